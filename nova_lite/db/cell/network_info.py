"""Records of the ports of servers.

In nova they are the record of a cache, not of the server: a change of them does not change when
the server was updated, a time by which users list servers.
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.dialects import lean

TABLE = instances.TABLE
_INFO = sa.select(TABLE.c.network_info).where(
    TABLE.c.uuid == sa.bindparam('uuid'), TABLE.c.deleted.is_(False), TABLE.c.hidden.is_(False)
)
_UNCHANGED = {'updated_at': TABLE.c.updated_at}


def of(connection: sa.Connection, uuid: str) -> list[dict[str, typing.Any]]:
    """Return the network information of a server that is neither deleted nor hidden, or []."""
    found = lean.value(connection, _INFO, {'uuid': uuid})
    return found or []


def store(
    connection: sa.Connection, uuid: str, info: list[dict[str, typing.Any]], /, **where: typing.Any
) -> None:
    """Store a server's network information. See `change`."""
    change(connection, uuid, {'network_info': info}, **where)


def change(
    connection: sa.Connection, uuid: str, values: rows.Values, /, **where: typing.Any
) -> None:
    """Change columns about the ports of a server that is not deleted, but not `updated_at`.

    where: {column: value that it must have}. Raise StateChanged if no such server exists.
    """
    found = rows.change(
        connection, TABLE, values, computed=_UNCHANGED, uuid=uuid, deleted=False, **where
    )
    if not found:
        detail = f'it does not exist with {where}' if where else 'it does not exist'
        raise exception.StateChanged(what='Instance', key=uuid, detail=detail)
