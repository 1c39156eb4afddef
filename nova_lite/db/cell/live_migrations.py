"""Live migrations of a cell: their queue, their progress and commands of operators.

A command (abort, force complete) is stored in the migration's record until it is carried out or
refused, so that a lost message does not lose the command.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE, _INSTANCES = models.Migration.__table__, models.Instance.__table__
Status = states.MigrationStatus
SHOWN = [str(status) for status in states.MIGRATION_LIVE]
ACTIVE = (str(Status.PREPARING), str(Status.RUNNING))
WAITING = str(Status.QUEUED)
ABORT, FORCE_COMPLETE = 'abort', 'force_complete'
# Key of a migration's data: {destination: {port id: status of the event}}.
PLUGGED = 'plugged'
# Key of a migration's data: an operator evacuates the server, so the source is not awaited.
EVACUATED = 'evacuated'
# {command: the event of its action that answers it}
ANSWERS = {
    ABORT: 'compute_live_migration_abort',
    FORCE_COMPLETE: 'compute_live_migration_force_complete',
}
_IS_LIVE = TABLE.c.migration_type == str(states.MigrationType.LIVE_MIGRATION)
_IS_SHOWN = sa.and_(_IS_LIVE, TABLE.c.hidden.is_(False))
_LEAVES = sa.and_(_IS_LIVE, TABLE.c.source_compute == sa.bindparam('source'))
# Statuses before the guest has left: later work does not burden the source.
_IS_THERE = sa.exists().where(
    _INSTANCES.c.uuid == TABLE.c.instance_uuid, _INSTANCES.c.host == TABLE.c.source_compute
)
_AHEAD = (
    sa.select(sa.func.count())
    .select_from(TABLE)
    .where(
        _LEAVES,
        TABLE.c.id != sa.bindparam('own'),
        sa.or_(
            sa.and_(TABLE.c.status.in_(ACTIVE), _IS_THERE),
            sa.and_(TABLE.c.status == WAITING, TABLE.c.id < sa.bindparam('own')),
        ),
    )
)
_NEXT_WAITING = (
    sa.select(TABLE.c.uuid).where(_LEAVES, TABLE.c.status == WAITING).order_by(TABLE.c.id).limit(1)
)


def shown(connection: sa.Connection, instance_uuid: str) -> Sequence[rows.Row]:
    """Return a server's live migrations that are in progress, oldest first."""
    return rows.every(
        connection,
        TABLE,
        _IS_SHOWN,
        order_by=TABLE.c.id,
        instance_uuid=instance_uuid,
        status=SHOWN,
    )


def find(connection: sa.Connection, instance_uuid: str, number: int) -> rows.Row | None:
    """Return a server's migration by its number, of any type and status, or None."""
    return rows.find(connection, TABLE, instance_uuid=instance_uuid, id=number)


def newest(connection: sa.Connection, instance_uuids: Iterable[str]) -> dict[str, rows.Row]:
    """Return {server uuid: its newest migration, of any type}, without servers that have none."""
    found = rows.every(connection, TABLE, order_by=TABLE.c.id, instance_uuid=list(instance_uuids))
    return {row.instance_uuid: row for row in found}


def ahead(connection: sa.Connection, row: rows.Row) -> int:
    """Return the number of live migrations that leave the same host, or have waited longer."""
    values = {'source': row.source_compute, 'own': row.id}
    count: int = execute.value(connection, _AHEAD, values)
    return count


def next_waiting(connection: sa.Connection, host: str) -> str | None:
    """Return the uuid of the live migration that has waited longest to leave a host, or None."""
    uuid: str | None = execute.value(connection, _NEXT_WAITING, {'source': host})
    return uuid


def lock(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return a migration's row, locked until the transaction ends; or None."""
    return rows.lock(connection, TABLE, uuid=uuid)


def add_command(
    connection: sa.Connection, row: rows.Row, name: str, ctxt: context.RequestContext
) -> bool:
    """Record that the user of `ctxt` requests to abort or to force the locked migration.

    name: ABORT or FORCE_COMPLETE. Return False if another request has the same command.
    """
    if name in row.data and row.data[name]['request_id'] != ctxt.request_id:
        return False
    values = ctxt.to_wire()
    values.pop('auth_token')
    _change(connection, row, {**row.data, name: values})
    return True


def commands(row: rows.Row) -> dict[str, dict[str, typing.Any]]:
    """Return {ABORT or FORCE_COMPLETE: context as plain values} of a migration."""
    return {name: row.data[name] for name in (ABORT, FORCE_COMPLETE) if name in row.data}


def drop_command(connection: sa.Connection, row: rows.Row, name: str, request_id: str) -> None:
    """Delete a command of the locked migration, unless it belongs to another request."""
    if row.data.get(name, {}).get('request_id') == request_id:
        kept = {key: value for key, value in row.data.items() if key != name}
        _change(connection, row, kept)


def note_evacuation(connection: sa.Connection, uuid: str) -> None:
    """Record that an operator evacuates the server of a migration."""
    row = lock(connection, uuid)
    if row is not None:
        _change(connection, row, {**row.data, EVACUATED: True})


def note_plugged(
    connection: sa.Connection, instance_uuid: str, events: typing.Mapping[str, str]
) -> None:
    """Record events about ports that a server's destination has plugged or failed to plug.

    events: {port id: status of the event}
    """
    for found in shown(connection, instance_uuid):
        row = lock(connection, found.uuid)
        if row is not None and row.dest_compute is not None:
            noted = {**plugged(row, row.dest_compute), **events}
            _change(connection, row, {**row.data, PLUGGED: {row.dest_compute: noted}})


def plugged(row: rows.Row, host: str) -> dict[str, str]:
    """Return {port id: status of the event} of the ports that came from a host."""
    found: dict[str, str] = row.data.get(PLUGGED, {}).get(host, {})
    return found


def _change(connection: sa.Connection, row: rows.Row, data: dict[str, typing.Any]) -> None:
    rows.change(connection, TABLE, {'data': data}, id=row.id)
