"""Lists, filters and pages of the volume service and of the shared file system service.

Manila began as a copy of Cinder. So lists, times and answers to changes are alike in both.
"""

import datetime
import typing

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web

MOST = 1000
SORTABLE = set(
    bodies.words(
        'id name status size created_at updated_at availability_zone bootable volume_type_id'
        ' volume_id'
    )
)


def identified() -> tuple[sa.Column[typing.Any], sa.Column[typing.Any]]:
    """Return the first columns of a table."""
    return (
        sa.Column('id', database.Id, primary_key=True, default=runtime.new_uuid),
        sa.Column('created_at', database.Time, nullable=False, default=runtime.naive_now),
    )


def stamp(moment: datetime.datetime | None) -> str | None:
    """Return a time in the form of both services: UTC, with microseconds, without a zone."""
    return moment.isoformat(timespec='microseconds') if moment else None


def of_everyone(req: web.Request) -> bool:
    """Return whether an administrator requests the rows of all projects."""
    text = req.get_param('all_tenants') or '0'
    return req.context.caller.is_privileged and (text == '' or paging.boolean(text, 'all_tenants'))


def owned(req: web.Request, table: sa.Table) -> shapes.Select:
    """Return the query of the rows that the caller may list."""
    query = sa.select(table)
    if not of_everyone(req):
        return query.where(table.c.project_id == req.context.caller.project_id)
    project_id = req.get_param('project_id') or req.get_param('tenant_id')
    return query.where(table.c.project_id == project_id) if project_id else query


def _number(text: str, problem: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise faults.BadRequest(problem)
    return int(text)


def _value(column: sa.Column[typing.Any], name: str, text: str) -> bool | int | str:
    if isinstance(column.type, sa.Boolean):
        return paging.boolean(text, name)
    if isinstance(column.type, sa.Integer):
        return _number(text, f"Invalid filter {name}: '{text[:64]}' is not a number.")
    return text


def filtered(
    req: web.Request, table: sa.Table, filters: dict[str, str] | tuple[str, ...]
) -> shapes.Select:
    """Return the query narrowed by the request. filters: columns, or {parameter: column}"""
    query = owned(req, table)
    for parameter in filters:
        name = filters[parameter] if isinstance(filters, dict) else parameter
        column = table.c[name]
        text = req.get_param(parameter)
        if text:
            query = query.where(column == _value(column, parameter, text))
        pattern = req.get_param(f'{parameter}~')
        if pattern:
            query = query.where(column.contains(pattern, autoescape=True))
    return query


def _limit(req: web.Request) -> int | None:
    return paging.limit_of(req, default=MOST, most=MOST)


def page_of(
    conn: sa.Connection, req: web.Request, table: sa.Table, query: shapes.Select
) -> list[database.Row]:
    """Return the rows of the requested page."""
    page = paging.Page(
        sort=paging.sort_of(req, SORTABLE & set(table.c.keys()), (('created_at', True),)),
        limit=_limit(req),
        marker=req.get_param('marker'),
    )
    text = req.get_param('offset') or '0'
    offset = _number(text, f"offset must be a number, not '{text[:64]}'.")
    return database.rows(conn, paging.paged(conn, query, table, page).offset(offset))


def listed(
    conn: sa.Connection,
    req: web.Request,
    table: sa.Table,
    filters: dict[str, str] | tuple[str, ...],
) -> list[database.Row]:
    """Return the rows of a page that a request chooses by `filters`, see `filtered`."""
    return page_of(conn, req, table, filtered(req, table, filters))


def collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return a list's body, with a link to the next page when there may be one."""
    return {key: items, **paging.next_link(req, key, items, _limit(req))}


STYLE = resources.Style(
    collection=collection, only_writers=True, created=falcon.HTTP_202, deleted=falcon.HTTP_202
)
