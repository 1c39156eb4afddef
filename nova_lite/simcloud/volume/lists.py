"""Pages of lists, with the number of all items if the request asks for it (microversion 3.45)."""

import dataclasses

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import paging
from nova_lite.simcloud import storage
from nova_lite.simcloud import web

COUNTED = 45


def page_of(
    conn: sa.Connection, req: web.Request, table: sa.Table, query: shapes.Select
) -> list[database.Row]:
    """Return the rows of the requested page; `collection` adds the number of all rows."""
    if paging.flag_of(req, 'with_count') and req.context.minor >= COUNTED:
        count = sa.select(sa.func.count()).select_from(query.subquery())
        req.context.count = conn.execute(count).scalar()
    return storage.page_of(conn, req, table, query)


def listed(
    conn: sa.Connection, req: web.Request, table: sa.Table, filters: tuple[str, str, str]
) -> list[database.Row]:
    """Return a page of the rows that match the request. filters: as in `storage.filtered`"""
    return page_of(conn, req, table, storage.filtered(req, table, filters))


def collection(req: web.Request, key: str, items: list[bodies.Json]) -> bodies.Json:
    """Return the body of a list, with the number of all items if `page_of` has counted them."""
    answer = storage.collection(req, key, items)
    if hasattr(req.context, 'count'):
        answer['count'] = req.context.count
    return answer


STYLE = dataclasses.replace(storage.STYLE, collection=collection)
