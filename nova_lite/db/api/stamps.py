"""Stamps: counters by which daemons notice that cached data has changed."""

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.Stamp.__table__
AGGREGATES = 'aggregates'
CELLS = 'cells'
# Hosts discovered or removed; compute services enabled, disabled or forced down.
HOSTS = 'hosts'
# The highest id of a deleted cell.
DELETED_CELL = 'deleted cell'
_NEXT = {'value': TABLE.c.value + 1}


def bump(connection: sa.Connection, name: str) -> None:
    """Increment a stamp, in the transaction that makes the change.

    Other transactions that increment the same stamp wait until this one ends.
    """
    if not _add_one(connection, name):
        try:
            with connection.begin_nested():
                rows.insert(connection, TABLE, {'name': name, 'value': 1})
        except db_exception.DBDuplicateEntry:
            _add_one(connection, name)


def keep_highest(connection: sa.Connection, name: str, value: int) -> None:
    """Raise a stamp to a value, unless it is higher."""
    known = every(connection).get(name)
    if known is None:
        rows.insert(connection, TABLE, {'name': name, 'value': value})
    else:
        rows.change(connection, TABLE, {'value': max(known, value)}, name=name)


def _add_one(connection: sa.Connection, name: str) -> int:
    return rows.change(connection, TABLE, {}, computed=_NEXT, name=name)


def every(connection: sa.Connection) -> dict[str, int]:
    """Return {name: value} of all stamps."""
    return {row.name: row.value for row in rows.every(connection, TABLE)}
