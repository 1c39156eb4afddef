"""Filters and pages of the volume service's lists."""

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing

MOST = 1000
SORTABLE = frozenset(
    (
        'id',
        'name',
        'status',
        'size',
        'created_at',
        'updated_at',
        'availability_zone',
        'bootable',
        'volume_type_id',
        'volume_id',
    )
)


def of_everyone(req):
    """Whether an administrator asks for all projects."""
    text = req.get_param('all_tenants') or '0'
    return req.context.caller.is_privileged and (text == '' or listing.boolean(text, 'all_tenants'))


def owned(req, table):
    """The rows that the request may list."""
    query = sa.select(table)
    if not of_everyone(req):
        return query.where(table.c.project_id == req.context.caller.project_id)
    project_id = req.get_param('project_id') or req.get_param('tenant_id')
    return query.where(table.c.project_id == project_id) if project_id else query


def _value(column, name, text):
    if isinstance(column.type, sa.Boolean):
        return listing.boolean(text, name)
    if isinstance(column.type, sa.Integer):
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise faults.BadRequest(f"Invalid filter {name}: '{text[:64]}' is not a number.")
        return int(text)
    return text


def filtered(query, req, table, filters):
    """`query` narrowed by the parameters of `filters` ({parameter: column name})."""
    for parameter, name in filters.items():
        column = table.c[name]
        text = req.get_param(parameter)
        if text:
            query = query.where(column == _value(column, parameter, text))
        pattern = req.get_param(f'{parameter}~')
        if pattern:
            query = query.where(column.contains(pattern, autoescape=True))
    return query


def _offset(req):
    text = req.get_param('offset') or '0'
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise faults.BadRequest(f"offset must be a number, not '{text[:64]}'.")
    return int(text)


def page_of(conn, req, table, query):
    """(rows of the requested page, whether there may be more)."""
    sortable = SORTABLE & set(table.c.keys())
    page = listing.Page(
        sort=listing.sort_of(req, sortable, (('created_at', True),)),
        limit=listing.limit_of(req, default=MOST, most=MOST),
        marker=req.get_param('marker'),
    )
    statement = listing.paged(conn, query, table, page)
    if offset := _offset(req):
        statement = statement.offset(offset)
    found = database.rows(conn, statement)
    return found, bool(found) and len(found) == page.limit


def answer(req, key, items, more):
    """The list's body, with a link to the next page when there may be one."""
    body = {key: items}
    if more:
        query = listing.next_query(req, items[-1]['id'])
        body[f'{key}_links'] = [
            {'rel': 'next', 'href': f'{req.context.public_url}{req.path}?{query}'}
        ]
    return body
