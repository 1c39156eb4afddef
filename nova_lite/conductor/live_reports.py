"""Transactions of a cell: live migrations as the hosts at both ends report them.

Every function takes a connection and the context first and may be repeated.
Source: reference/nova/moves 4.2 to 4.4.
"""

from collections.abc import Iterable
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import live_turns
from nova_lite.db.cell import migrations

Status = states.MigrationStatus
PREPARE_EVENT = 'compute_pre_live_migration'


def note_progress(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    migration_uuid: str,
    counters: dict[str, int],
) -> dict[str, dict[str, typing.Any]]:
    """Record the counters of a copy. Return {command of an operator: context}."""
    row = live_turns.begin_copy(connection, migration_uuid)
    if row.source_compute != host:
        detail = f'its source is host {row.source_compute}'
        raise exception.StateChanged(what='Migration', key=migration_uuid, detail=detail)
    if row.status != Status.RUNNING:
        # The destination is prepared by now: without it the copy does not begin.
        actions.finish_event(
            connection, row.instance_uuid, ctxt.request_id, PREPARE_EVENT, host=row.dest_compute
        )
    values = {name: value for name, value in counters.items() if getattr(row, name) != value}
    if values:
        migrations.update(connection, migration_uuid, values)
    return live_migrations.commands(row)


def answer_command(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    migration_uuid: str,
    command: str,
    error: str | None,
) -> None:
    """Record the result of a command on a live migration. error: text of its refusal"""
    row = live_turns.locked(connection, migration_uuid)
    if row.data.get(command, {}).get('request_id') != ctxt.request_id:
        return
    # The record of a successful abort stays, because it is the reason why the migration ended.
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
    """Return {server uuid: uuid of its newest migration}, of migrations that have ended."""
    newest = live_migrations.newest(connection, uuids)
    return {
        row.instance_uuid: row.uuid
        for row in newest.values()
        if row.status in states.MIGRATION_OVER
    }


def confirmed_moves(connection: sa.Connection, uuids: Iterable[str]) -> list[str]:
    """Return the migrations that have ended at their destination for good."""
    return migrations.ended_at_destination(connection, uuids)
