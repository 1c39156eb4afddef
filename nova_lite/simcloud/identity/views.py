"""Views and lists of identity resources."""

from collections.abc import Callable
from collections.abc import Iterable
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import tables

Query: typing.TypeAlias = sa.Select[typing.Any]


def links(req: web.Request, path: str) -> dict[str, str]:
    """Return the links of one resource at `path` under /identity/v3."""
    return {'self': f'{req.context.public_url}/identity/v3/{path}'}


def collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return the body of a list. Keystone has no pages."""
    return {key: items, 'links': {'self': req.uri, 'next': None, 'previous': None}}


def extra(row: database.Row) -> bodies.Json:
    """Return the fields of a user or project that Keystone shows only after a change."""
    return {'extra': row['extra']}


def viewer(path: str) -> resources.Views:
    """Return `views` of a resource at `path`: all columns of the row, with its links."""

    def view(req: web.Request, row: database.Row) -> bodies.Json:
        return {**row, 'links': links(req, f'{path}/{row["id"]}')}

    return resources.each_as_asked(view)


def known(table: sa.Table) -> resources.GetById:
    """Return `get` of a resource: one row of the table by id."""
    return lambda conn, _caller, row_id: tables.get(conn, table, row_id)


def lists(table: sa.Table, *filters: str) -> resources.Listed:
    """Return `listed` of a resource: the rows that match the query, sorted by name.

    filters: columns by which a query may filter, beside `enabled` if the table has it
    """

    def listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
        query = _filtered(sa.select(table).order_by(table.c.name, table.c.id), table, req, filters)
        if 'enabled' in table.c and (enabled := req.get_param('enabled')):
            query = query.where(table.c.enabled == paging.boolean(enabled, 'enabled'))
        return database.rows(conn, query)[: req.get_param_as_int('limit', min_value=1)]

    return listed


def seen(
    table: sa.Table,
    *filters: str,
    order: str = 'id',
    see: Callable[[Query, callers.Caller], Query] = lambda query, _caller: query,
) -> resources.Listed:
    """Return `listed` of a resource: the rows that match the query and that the caller may see.

    filters: as of `lists`; order: column by which the rows are sorted
    see: restricts a query to the rows that a caller may see
    """

    def listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
        query = see(sa.select(table).order_by(table.c[order], table.c.id), req.context.caller)
        return database.rows(conn, _filtered(query, table, req, filters))

    return listed


def _filtered(query: Query, table: sa.Table, req: web.Request, filters: Iterable[str]) -> Query:
    for name in filters:
        if value := req.get_param(name):
            query = query.where(table.c[name] == value)
    return query


STYLE = resources.Style(collection=collection, update_method='patch')
