"""Noted changes of ports, which are followed when no task or saga changes the server."""

from collections.abc import Iterable
from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.dialects import execute

TABLE = models.PortChange.__table__
_AFTER = (
    sa.select(TABLE)
    .where(TABLE.c.id > sa.bindparam('after_id'))
    .order_by(TABLE.c.id)
    .limit(sa.bindparam('most', type_=sa.Integer))
)
_LOST = sa.select(TABLE.c.port_id).where(TABLE.c.instance_uuid == sa.bindparam('uuid'))
_ONCE_MORE = {'attempts': TABLE.c.attempts + 1}


def add(connection: sa.Connection, instance_uuid: str, lost: Iterable[str] = ()) -> None:
    """Note that the ports of a server have changed. lost: ids of ports that it has lost"""
    ports: list[str | None] = [*sorted(lost)] or [None]
    values = [{'instance_uuid': instance_uuid, 'port_id': port_id} for port_id in ports]
    rows.insert(connection, TABLE, values)


def lost(connection: sa.Connection, instance_uuid: str) -> set[str]:
    """Return the ids of the lost ports that are noted for a server."""
    return {
        port_id for port_id in execute.values(connection, _LOST, {'uuid': instance_uuid}) if port_id
    }


def after(connection: sa.Connection, change_id: int, most: int) -> Sequence[rows.Row]:
    """Return at most `most` changes with ids greater than `change_id`, in order."""
    return execute.every(connection, _AFTER, {'after_id': change_id, 'most': most})


def count_try(connection: sa.Connection, change_id: int) -> None:
    """Count an attempt that failed."""
    rows.change(connection, TABLE, {}, computed=_ONCE_MORE, id=change_id)


def forget(connection: sa.Connection, ids: Iterable[int]) -> None:
    """Forget changes that were followed."""
    rows.delete(connection, TABLE, id=list(ids))
