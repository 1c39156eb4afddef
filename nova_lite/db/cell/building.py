"""Servers that are being built: their rows as they were written, and the part that builds read."""

from collections.abc import Iterable
import types
import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.dialects import execute

TABLE = instances.TABLE
_OF_BUILD = instances.FORMER.add_columns(
    TABLE.c.uuid, TABLE.c.host, TABLE.c.node, TABLE.c.deleted, TABLE.c.build
)
_IDS = sa.select(TABLE.c.uuid, TABLE.c.id).where(
    TABLE.c.uuid.in_(sa.bindparam('uuids')), TABLE.c.deleted.is_(False), TABLE.c.hidden.is_(False)
)


def ids(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, int]:
    """Return {uuid: id} of the servers that are neither deleted nor hidden."""
    found = execute.every(connection, _IDS, {'uuids': execute.filled(uuids)})
    return {row.uuid: row.id for row in found}


def created(values: rows.Values, identity: int) -> rows.Row:
    """Return the row that `instances.create` has made of these values, without a query.

    identity: its id
    """
    # It is read like a row, by attributes.
    return typing.cast(rows.Row, types.SimpleNamespace(**{**_defaults(), **values, 'id': identity}))


def _defaults() -> dict[str, typing.Any]:
    found: dict[str, typing.Any] = {}
    for column in TABLE.c:
        default: typing.Any = column.default
        # A default that is a function is called with the context of the statement, or none.
        found[column.key] = default and (default.arg(None) if default.is_callable else default.arg)
    return found


def find(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return a server as `instances.find`, with the columns alone that its build needs.

    `instances.update` takes the row as `former`.
    """
    return execute.first(connection, _OF_BUILD, {'uuid': uuid})
