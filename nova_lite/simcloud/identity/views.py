"""Views and lists of identity resources."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import tables


def links(req: web.Request, path: str) -> dict[str, str]:
    """Return the links of one resource at `path` under /identity/v3."""
    return {'self': f'{req.context.public_url}/identity/v3/{path}'}


def collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return the body of a list. Keystone has no pages."""
    return {key: items, 'links': {'self': req.uri, 'next': None, 'previous': None}}


def extra(row: database.Row) -> bodies.Json:
    """Return the fields of a user or project that Keystone shows only after a change."""
    return {'extra': row['extra']}


def known(table: sa.Table) -> resources.GetById:
    """Return `get` of a resource: one row of the table by id."""
    return lambda conn, _caller, row_id: tables.get(conn, table, row_id)


def lists(table: sa.Table, *filters: str) -> resources.Listed:
    """Return `listed` of a resource: the rows that match the query, sorted by name.

    filters: columns by which a query may filter, beside `enabled` if the table has it
    """

    def listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
        query = sa.select(table).order_by(table.c.name, table.c.id)
        for name in filters:
            if value := req.get_param(name):
                query = query.where(table.c[name] == value)
        if 'enabled' in table.c and (enabled := req.get_param('enabled')):
            query = query.where(table.c.enabled == paging.boolean(enabled, 'enabled'))
        return database.rows(conn, query)[: req.get_param_as_int('limit', min_value=1)]

    return listed


STYLE = resources.Style(collection=collection, update_method='patch')
