"""Pages of lists, with the number of all items where a request asks for it (microversion 3.45)."""

import dataclasses

import sqlalchemy as sa

from nova_lite.simcloud import paging
from nova_lite.simcloud import storage

COUNTED = 45


def page_of(conn, req, table, query):
    """Return the rows of the requested page; `collection` adds the number of all rows."""
    if paging.flag_of(req, 'with_count') and req.context.minor >= COUNTED:
        count = sa.select(sa.func.count()).select_from(query.subquery())
        req.context.count = conn.execute(count).scalar()
    return storage.page_of(conn, req, table, query)


def listed(conn, req, table, filters):
    """Return the rows of a page that a request chooses by `filters`, see `storage.filtered`."""
    return page_of(conn, req, table, storage.filtered(req, table, filters))


def collection(req, key, items):
    """Return a list's body, with the number of all items if `page_of` has counted them."""
    answer = storage.collection(req, key, items)
    if hasattr(req.context, 'count'):
        answer['count'] = req.context.count
    return answer


STYLE = dataclasses.replace(storage.STYLE, collection=collection)
