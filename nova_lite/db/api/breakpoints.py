"""Breakpoints of sagas, and the sagas whose super-conductor a debugger kills.

They are rows of the API database, so that snapshots of a cloud contain them with the sagas that
they have stopped. Their tables are not part of the schema: the first row creates each, in a cloud
with a debugger.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite.db import database_clock
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.saga import breakpoints
from nova_lite.saga import journal

DEBUGGER = 'debugger'

TABLE = sa.Table(
    'breakpoints',
    sa.MetaData(),
    sa.Column('id', sa.Integer, primary_key=True),
    sa.Column('instance_uuid', sa.String(36)),
    sa.Column('kind', sa.String(64)),
    sa.Column('step', sa.String(255), nullable=False),
    # Numbers are not reused.
    sqlite_autoincrement=True,
)
LOSSES = sa.Table('saga_losses', TABLE.metadata, sa.Column('uuid', sa.String(36), primary_key=True))

_NOW = {'wake_at': database_clock.now()}


def mark_of(row: rows.Row) -> breakpoints.Mark | None:
    """Return the Mark of the saga in a row; None if it is not stopped, or has ended."""
    return breakpoints.stopped(row.data) if row.active_for else None


def every(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return all breakpoints: id, instance_uuid and kind (None for any), step."""
    if not sa.inspect(connection).has_table(TABLE.name):
        return []
    return rows.every(connection, TABLE, order_by=TABLE.c.id)


def add(
    connection: sa.Connection, *, instance_uuid: str | None, kind: str | None, step: str
) -> rows.Row:
    """Add a breakpoint, unless an equal one exists. Return it."""
    TABLE.create(connection, checkfirst=True)
    values = {'instance_uuid': instance_uuid, 'kind': kind, 'step': step}
    found = rows.find(connection, TABLE, instance_uuid=instance_uuid, kind=kind, step=step)
    if found is None:
        found = rows.one(connection, TABLE, id=rows.insert_returning_id(connection, TABLE, values))
    return found


def remove(connection: sa.Connection, number: int) -> None:
    """Remove a breakpoint."""
    rows.delete(connection, TABLE, id=number)


def stopped(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return the sagas that are stopped, newest first."""
    found = sagas.every(connection, active=True)
    return [row for row in found if breakpoints.stopped(row.data)]


def go_on(connection: sa.Connection, uuid: str, how: str) -> bool:
    """Continue a stopped saga at once. Return False if it is not stopped.

    how: saga.breakpoints.GO or STEP
    """
    row = rows.lock(connection, sagas.TABLE, uuid=uuid, state=journal.PARKED)
    mark = None if row is None else breakpoints.stopped(row.data)
    if row is None or mark is None:
        return False
    held = {'uuid': uuid, 'state': journal.PARKED, 'epoch': row.epoch}
    data = {**row.data, breakpoints.MARK: {**mark, 'goes': how}}
    if not rows.change(connection, sagas.TABLE, {'data': data}, computed=_NOW, **held):
        return False
    note = journal.Note(breakpoints.CONTINUED, mark['step'])
    sagas.add_event(connection, uuid, DEBUGGER, row.epoch, note)
    return True


def lose(connection: sa.Connection, uuid: str) -> None:
    """Note that the super-conductor that continues a stopped saga is to be killed."""
    LOSSES.create(connection, checkfirst=True)
    if rows.find(connection, LOSSES, uuid=uuid) is None:
        rows.insert(connection, LOSSES, {'uuid': uuid})


def spare(connection: sa.Connection, uuid: str) -> bool:
    """Delete the note of `lose`. Return whether there was one."""
    if not sa.inspect(connection).has_table(LOSSES.name):
        return False
    return bool(rows.delete(connection, LOSSES, uuid=uuid))


def is_to_be_lost(connection: sa.Connection, uuid: str) -> bool:
    """Return whether there is a note of `lose`."""
    return rows.find(connection, LOSSES, uuid=uuid) is not None
