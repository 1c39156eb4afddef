"""The queue of the live migrations that leave a host."""

from collections.abc import Container
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services

Status = states.MigrationStatus
EVENT = 'compute_live_migration'


def take(
    connection: sa.Connection, ctxt: context.RequestContext, host: str, uuid: str, *, limit: int
) -> dict[str, typing.Any]:
    """Queue a migration, and start it when fewer than `limit` leave the host. 0: any number

    Return {'turn': whether it may begin, 'ahead': how many others leave or wait for longer}.
    Raise LiveMigrationAborted, MigrationNotFound, StateChanged.
    """
    # Of two migrations that ask at once, one must see the other.
    services.lock(connection, host)
    row = locked(connection, uuid)
    if row.status in live_migrations.ACTIVE:
        return {'turn': True, 'ahead': 0}
    refuse_unwanted(row)
    if row.status != Status.QUEUED:
        expect(row, (Status.ACCEPTED,))
        actions.start_event(connection, row.instance_uuid, ctxt.request_id, EVENT, host=host)
    ahead = live_migrations.ahead(connection, row)
    turn = limit == 0 or ahead < limit
    status = str(Status.PREPARING if turn else Status.QUEUED)
    if status != row.status:
        migrations.update(connection, uuid, {'status': status})
    return {'turn': turn, 'ahead': ahead}


def locked(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return a migration's row, kept from other writers. Raise MigrationNotFound."""
    row = live_migrations.lock(connection, uuid)
    if row is None:
        raise exception.MigrationNotFound(migration_id=uuid)
    return row


def expect(row: rows.Row, allowed: Container[str]) -> None:
    """Raise StateChanged for a migration whose status is another one."""
    if row.status not in allowed:
        raise exception.StateChanged(what='Migration', key=row.uuid, detail=f'it is {row.status}')


def has_begun(connection: sa.Connection, uuid: str) -> bool:
    """Return whether the copy of a migration was recorded to have begun."""
    return bool(migrations.get(connection, uuid).status == Status.RUNNING)


def begin_copy(connection: sa.Connection, uuid: str) -> rows.Row:
    """Record that the copy begins. Return the migration as it was before.

    Raise LiveMigrationAborted if it was called off before, StateChanged if it may not begin at
    all, or MigrationNotFound.
    """
    row = locked(connection, uuid)
    expect(row, live_migrations.ACTIVE)
    if row.status != Status.RUNNING:
        refuse_unwanted(row)
        migrations.update(connection, uuid, {'status': str(Status.RUNNING)})
    return row


def refuse_unwanted(row: rows.Row) -> None:
    """Raise LiveMigrationAborted for a migration that an operator has called off."""
    if live_migrations.ABORT in row.data:
        raise exception.LiveMigrationAborted(migration_id=row.uuid)
