"""Views and lists of identity resources."""

import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud.identity import tables


def links(req, path):
    """Return the links of one resource at `path` under /identity/v3."""
    return {'self': f'{req.context.public_url}/identity/v3/{path}'}


def collection(req, key, items):
    """Return a whole list; Keystone pages nothing."""
    return {key: items, 'links': {'self': req.uri, 'next': None, 'previous': None}}


def extra(row):
    """Return the fields of a user or project that Keystone shows only after a change."""
    return {'extra': row['extra']}


def known(table):
    """Return a `get` of a resource: one row by id."""
    return lambda conn, _caller, row_id: tables.get(conn, table, row_id)


def lists(table, *filters):
    """Return a `listed` of a resource: all rows with these columns' values, by name.

    A table with a column `enabled` is filtered by that too.
    """

    def listed(conn, req):
        query = sa.select(table).order_by(table.c.name, table.c.id)
        for name in filters:
            if value := req.get_param(name):
                query = query.where(table.c[name] == value)
        if 'enabled' in table.c and (enabled := req.get_param('enabled')):
            query = query.where(table.c.enabled == paging.boolean(enabled, 'enabled'))
        return database.rows(conn, query)[: req.get_param_as_int('limit', min_value=1)]

    return listed


STYLE = resources.Style(collection=collection, update_method='patch')
