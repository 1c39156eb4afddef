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
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    migration_uuid: str,
    limit: int,
) -> dict[str, typing.Any]:
    """Queue a migration. Admit it if fewer than `limit` (0: no limit) leave the host.

    Return {'turn': whether it may begin, 'ahead': number of migrations before it}.
    Raise LiveMigrationAborted, MigrationNotFound, StateChanged.
    """
    # Of two concurrent migrations, one must see the other.
    services.lock(connection, host)
    row = locked(connection, migration_uuid)
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
        migrations.update(connection, migration_uuid, {'status': status})
    return {'turn': turn, 'ahead': ahead}


def locked(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return a migration's row, locked. Raise MigrationNotFound."""
    row = live_migrations.lock(connection, uuid)
    if row is None:
        raise exception.MigrationNotFound(migration_id=uuid)
    return row


def expect(row: rows.Row, allowed: Container[str]) -> None:
    """Raise StateChanged if the status of a migration is not in `allowed`."""
    if row.status not in allowed:
        raise exception.StateChanged(what='Migration', key=row.uuid, detail=f'it is {row.status}')


def has_begun(connection: sa.Connection, uuid: str) -> bool:
    """Return whether the record shows that the copy of a migration has begun."""
    return bool(migrations.get(connection, uuid).status == Status.RUNNING)


def begin_copy(connection: sa.Connection, uuid: str) -> rows.Row:
    """Record that the copy begins. Return the migration as it was before.

    Raise LiveMigrationAborted if it was aborted before, StateChanged if its status does not allow
    the copy, or MigrationNotFound.
    """
    row = locked(connection, uuid)
    expect(row, live_migrations.ACTIVE)
    if row.status != Status.RUNNING:
        refuse_unwanted(row)
        migrations.update(connection, uuid, {'status': str(Status.RUNNING)})
    return row


def refuse_unwanted(row: rows.Row) -> None:
    """Raise LiveMigrationAborted if an operator has aborted the migration."""
    if live_migrations.ABORT in row.data:
        raise exception.LiveMigrationAborted(migration_id=row.uuid)
