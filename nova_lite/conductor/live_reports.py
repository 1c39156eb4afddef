"""Transactions of a cell: live migrations as the hosts at both ends report them.

Every function takes a connection and the context first and may be repeated.
Source: reference/nova/moves 4.2 to 4.4.
"""

from collections.abc import Container
from collections.abc import Iterable
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

Status = states.MigrationStatus
EVENT = 'compute_live_migration'
PREPARE_EVENT = 'compute_pre_live_migration'


def take_turn(
    connection: sa.Connection, ctxt: context.RequestContext, host: str, uuid: str, *, limit: int
) -> dict[str, typing.Any]:
    """See ConductorAPI.live_migration_turn."""
    # Of two migrations that ask at once, one must see the other.
    services.lock(connection, host)
    row = _locked(connection, uuid)
    if row.status in live_migrations.ACTIVE:
        return {'turn': True, 'ahead': 0}
    _refuse_unwanted(row)
    if row.status != Status.QUEUED:
        _expect(row, (Status.ACCEPTED,))
        actions.start_event(connection, row.instance_uuid, ctxt.request_id, EVENT, host=host)
    ahead = live_migrations.ahead(connection, row)
    turn = limit == 0 or ahead < limit
    status = str(Status.PREPARING if turn else Status.QUEUED)
    if status != row.status:
        migrations.update(connection, uuid, {'status': status})
    return {'turn': turn, 'ahead': ahead}


def note_progress(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    *,
    counters: dict[str, int],
) -> dict[str, dict[str, typing.Any]]:
    """See ConductorAPI.live_migration_progress."""
    row = _locked(connection, uuid)
    _expect(row, live_migrations.ACTIVE)
    values: dict[str, typing.Any] = {
        name: value for name, value in counters.items() if getattr(row, name) != value
    }
    if row.status != Status.RUNNING:
        _refuse_unwanted(row)
        values['status'] = str(Status.RUNNING)
        # The destination is prepared, or the copy would not begin.
        actions.finish_event(
            connection, row.instance_uuid, ctxt.request_id, PREPARE_EVENT, host=row.dest_compute
        )
    if values:
        migrations.update(connection, uuid, values)
    return live_migrations.commands(row)


def answer_command(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    *,
    command: str,
    error: str,
) -> None:
    """See ConductorAPI.live_migration_answered."""
    row = _locked(connection, uuid)
    if row.data.get(command, {}).get('request_id') != ctxt.request_id:
        return
    # An abort that takes place stays on record: it says why the migration ended.
    if error is not None or command != live_migrations.ABORT:
        live_migrations.drop_command(connection, row, command, ctxt.request_id)
    actions.finish_event(
        connection,
        row.instance_uuid,
        ctxt.request_id,
        live_migrations.ANSWERS[command],
        host=host,
        error=error,
    )


def ended_moves(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, str]:
    """See ConductorAPI.ended_moves."""
    newest = live_migrations.newest(connection, uuids)
    return {
        row.instance_uuid: row.uuid
        for row in newest.values()
        if row.status in states.MIGRATION_OVER
    }


def _locked(connection: sa.Connection, uuid: str) -> rows.Row:
    row = live_migrations.lock(connection, uuid)
    if row is None:
        raise exception.MigrationNotFound(migration_id=uuid)
    return row


def _expect(row: rows.Row, allowed: Container[str]) -> None:
    if row.status not in allowed:
        raise exception.StateChanged(what='Migration', key=row.uuid, detail=f'it is {row.status}')


def _refuse_unwanted(row: rows.Row) -> None:
    if live_migrations.ABORT in row.data:
        raise exception.LiveMigrationAborted(migration_id=row.uuid)
