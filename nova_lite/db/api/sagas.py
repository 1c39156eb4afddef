"""The journal of sagas in the API database (implements saga/journal.py)."""

from collections.abc import Collection
from collections.abc import Sequence
import types
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import database_clock
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models
from nova_lite.dialects import execute
from nova_lite.dialects import writing
from nova_lite.saga import journal
from nova_lite.saga import retries

TABLE = models.Saga.__table__
EVENTS = models.SagaEvent.__table__
_NEWEST = sa.select(TABLE.c.epoch).where(TABLE.c.uuid == sa.bindparam('uuid'))
_HOLD = writing.locking(_NEWEST)
_WAKE_LATER = {'wake_at': database_clock.after('wake_in_s')}
_WAKE_NOW = {'wake_at': database_clock.now()}
_LEASE = {'lease_until': database_clock.after('lease_s')}
_HAS_SERVER = TABLE.c.active_for.is_not(None)
_HAS_SERVER_OR_CLEANS = sa.or_(_HAS_SERVER, TABLE.c.state == journal.CLEANING)
_NEWEST_FIRST = TABLE.c.created_at.desc()
# A saga without an owner.
_FREE = sa.and_(
    TABLE.c.state.in_(journal.OPEN),
    sa.or_(
        TABLE.c.lease_until.is_(None),
        database_clock.is_over(TABLE.c.lease_until, retries.LONGEST_LEASE_S),
    ),
)
_DUE = database_clock.is_over(TABLE.c.wake_at, retries.LONGEST_WAIT_S)
_LATE = sa.select(database_clock.now(), TABLE.c.wake_at, TABLE.c.lease_until).where(_FREE, _DUE)
# Columns that stay the same while an owner has a saga, and those of a saga without one.
_HELD_BY, _NO_OWNER = ('uuid', 'epoch', 'state'), {'owner': None, 'lease_until': None}
_FIRST_DUE = (
    sa.select(TABLE.c.uuid)
    .where(_FREE, _DUE)
    .order_by(TABLE.c.wake_at)
    .limit(sa.bindparam('most', type_=sa.Integer))
)
_ACQUIRE = (
    sa.update(TABLE)
    .where(
        TABLE.c.uuid == sa.bindparam('of'),
        TABLE.c.epoch == sa.bindparam('before'),
        _FREE,
        # The cast for a new saga arrives before the sweep would take up the saga.
        sa.or_(_DUE, TABLE.c.epoch == 0),
    )
    .values(
        **_LEASE,
        state=sa.case((TABLE.c.state == journal.CLEANING, journal.CLEANING), else_=journal.RUNNING),
        epoch=sa.bindparam('newest', type_=TABLE.c.epoch.type),
        owner=sa.bindparam('holder', type_=TABLE.c.owner.type),
    )
)


def create(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    *,
    uuid: str,
    kind: str,
    instance_uuid: str,
    arguments: journal.Data,
    wake_in_s: float = 0,
    size: instance_mappings.Size | None = None,
) -> None:
    """Record the intent to run a saga. Raise Conflict if another saga has the server.

    wake_in_s: seconds after which the sweep may take up the saga, if the cast is lost
    size: {'vcpus', 'memory_mb'} that quotas count for the server until the saga ends, if it is
        greater than the size in the mapping; None for a saga that changes no size
    """
    conflict = exception.Conflict(reason='another operation is moving the server')
    values = {name: each for name, each in ctxt.to_wire().items() if name != 'auth_token'}
    rows.insert_new(
        connection,
        TABLE,
        {
            'uuid': uuid,
            'kind': kind,
            'instance_uuid': instance_uuid,
            'active_for': instance_uuid,
            **(size or {}),
            'project_id': ctxt.project_id,
            'context': values,
            'arguments': arguments,
            'state': journal.RUNNING,
            'direction': journal.FORWARD,
        },
        conflict,
        given={'wake_in_s': wake_in_s},
        **_WAKE_LATER,
    )
    add_event(connection, uuid, 'api', 0, journal.Note('accepted'))


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one saga. Raise SagaNotFound."""
    return rows.get(connection, TABLE, exception.SagaNotFound(uuid=uuid), uuid=uuid)


def every(
    connection: sa.Connection,
    *,
    active: bool = False,
    cleaning: bool = False,
    instance_uuid: str | None = None,
) -> Sequence[rows.Row]:
    """Return sagas, newest first. active: only those with a server; cleaning: or that clean up"""
    conditions = [_HAS_SERVER_OR_CLEANS if cleaning else _HAS_SERVER] if active else []
    where: dict[str, typing.Any] = {} if instance_uuid is None else {'instance_uuid': instance_uuid}
    return rows.every(connection, TABLE, *conditions, order_by=_NEWEST_FIRST, **where)


def unfinished(connection: sa.Connection, instance_uuids: Collection[str]) -> Sequence[rows.Row]:
    """Return the sagas of servers that run or clean up."""
    named = TABLE.c.instance_uuid.in_(instance_uuids)
    return rows.every(connection, TABLE, _HAS_SERVER_OR_CLEANS, named)


def events(connection: sa.Connection, uuid: str) -> Sequence[rows.Row]:
    """Return the events of a saga, in order."""
    return rows.every(connection, EVENTS, saga_uuid=uuid, order_by=EVENTS.c.id)


def lag_s(connection: sa.Connection) -> float:
    """Return the seconds by which the most overdue saga is late; 0 if none is."""
    found = execute.every(connection, _LATE)
    # A saga with an owner is not late before its lease has expired. A time far in the future was
    # written before the clock was set back.
    late: list[float] = [(now - max(filter(None, times))).total_seconds() for now, *times in found]
    return max([0.0, *late])


def find_active(connection: sa.Connection, instance_uuid: str) -> rows.Row | None:
    """Return the saga that moves a server now, or None."""
    return rows.find(connection, TABLE, active_for=instance_uuid)


def wake(connection: sa.Connection, uuid: str) -> bool:
    """Make a parked saga due now. Return whether there is one."""
    return bool(
        rows.change(connection, TABLE, {}, computed=_WAKE_NOW, uuid=uuid, state=journal.PARKED)
    )


def require_newest(connection: sa.Connection, ctxt: context.RequestContext) -> None:
    """Raise StaleEpoch unless the epoch in `ctxt` is the newest of its saga."""
    _require_equal(_newest(connection, ctxt.saga), ctxt)


def hold(connection: sa.Connection, ctxt: context.RequestContext) -> None:
    """Raise StaleEpoch as `require_newest`. A takeover waits until the transaction ends."""
    _require_equal(execute.value(connection, _HOLD, {'uuid': ctxt.saga}), ctxt)


def _newest(connection: sa.Connection, uuid: str | None) -> int | None:
    """Return the epoch of a saga; None if the saga does not exist."""
    newest: int | None = execute.value(connection, _NEWEST, {'uuid': uuid})
    return newest


def _require_equal(newest: int | None, ctxt: context.RequestContext) -> None:
    if newest != ctxt.epoch:
        raise exception.StaleEpoch(saga=ctxt.saga, seen=newest, epoch=ctxt.epoch)


def withdraw(connection: sa.Connection, uuid: str) -> bool:
    """Withdraw an intent without an owner. Return False if it has one."""
    if rows.lock(connection, TABLE, uuid=uuid, epoch=0) is None:
        return False
    rows.delete(connection, EVENTS, saga_uuid=uuid)
    rows.delete(connection, TABLE, uuid=uuid)
    return True


def add_event(
    connection: sa.Connection, uuid: str, owner: str | None, epoch: int, note: journal.Note
) -> None:
    """Record an event of a saga."""
    add_events(connection, uuid, owner, epoch, [note])


def add_events(
    connection: sa.Connection, uuid: str, owner: str | None, epoch: int, notes: journal.Notes
) -> None:
    """Record events of a saga, in order."""
    common = {'saga_uuid': uuid, 'owner': owner, 'epoch': epoch}
    now = runtime.naive_now()
    found = [{**common, **note._asdict(), 'at': note.at or now} for note in notes]
    rows.insert(connection, EVENTS, found[0] if len(found) == 1 else found)


class Journal:
    """The journal over a Database."""

    def __init__(
        self, database: transactions.Database, effect: journal.Effect | None = None
    ) -> None:
        self.database, self._effect = database, effect

    def joined(self, effect: journal.Effect) -> journal.Journal:
        return Journal(self.database, effect)

    def _change(self, *change: typing.Any, **options: typing.Any) -> None:
        self.database.write(_change, self._effect, *change, **options)

    def acquire(
        self, uuid: str, owner: str, lease_s: float, *, new: journal.Record | None = None
    ) -> journal.Record | None:
        return self.database.write(_acquire, uuid, owner, lease_s, new)

    def renew(self, held: dict[str, int], owner: str, lease_s: float) -> None:
        self.database.write(_renew, held, owner, lease_s)

    def require(self, record: journal.Record) -> None:
        newest = self.database.read(_newest, record.uuid)
        if newest != record.epoch:
            raise journal.LostLease(record.uuid)

    def advance(
        self,
        record: journal.Record,
        notes: journal.Notes,
        *,
        position: int,
        direction: str,
        data: journal.Data,
        error: journal.Failure | None = None,
    ) -> None:
        values: dict[str, typing.Any] = {
            'position': position,
            'data': data,
            'direction': direction,
            'step': notes[-1].step,
            'attempts': 0,
        }
        if error is not None:
            values['error'] = error
        self._change(record, values, *notes)

    def park(
        self,
        record: journal.Record,
        notes: journal.Notes,
        *,
        position: int,
        wake_in_s: float,
        attempts: int,
        data: journal.Data,
    ) -> None:
        values: dict[str, typing.Any] = {
            'state': journal.PARKED,
            'position': position,
            'attempts': attempts,
            'data': data,
            **_NO_OWNER,
        }
        *earlier, note = notes
        if earlier:
            values['step'] = earlier[-1].step
        if note.what == 'waits':
            # Only the first poll of a wait is recorded: the others would fill the table.
            values['waits_on'] = note.step
            if record.waits_on == note.step:
                note = journal.Note(None)
        wake_in_s = min(wake_in_s, retries.LONGEST_WAIT_S)
        self._change(record, values, *earlier, note, wake_in_s=wake_in_s)

    def finish(
        self,
        record: journal.Record,
        *,
        state: str,
        notes: journal.Notes = (),
        position: int = 0,
        data: journal.Data | None = None,
    ) -> None:
        values: dict[str, typing.Any] = {}
        if notes:
            values = {'position': position, 'data': data, 'step': notes[-1].step, 'attempts': 0}
        values |= {
            'state': state,
            'active_for': None,
            **_NO_OWNER,
            'finished_at': runtime.naive_now(),
        }
        self._change(record, values, *notes, journal.Note(state))

    def clean_later(
        self,
        record: journal.Record,
        *,
        wake_in_s: float,
        attempts: int,
        data: journal.Data,
        notes: journal.Notes = (),
        position: int | None = None,
    ) -> None:
        values: dict[str, typing.Any] = {
            'state': journal.CLEANING,
            'active_for': None,
            # Now the mapping has the server's usage, even while a duty holds the server.
            'vcpus': None,
            'memory_mb': None,
            **_NO_OWNER,
            'attempts': attempts,
            'data': data,
        }
        if position is not None:
            values['position'] = position
        if record.state != journal.CLEANING:
            values['finished_at'] = runtime.naive_now()
            notes = (*notes, journal.Note(journal.CLEANING))
        self._change(record, values, *notes, wake_in_s=wake_in_s)

    def clean_soon(self, record: journal.Record, *, wake_in_s: float, data: journal.Data) -> None:
        self._change(record, {**_NO_OWNER, 'data': data}, wake_in_s=wake_in_s)

    def hold_server(self, record: journal.Record) -> bool:
        try:
            self._change(record, {'active_for': record.instance_uuid})
        except db_exception.DBDuplicateEntry:
            return False
        return True

    def find(self, uuid: str) -> journal.Record | None:
        return self.database.read(rows.find, TABLE, uuid=uuid)

    def due(self, limit: int) -> Sequence[str]:
        return self.database.read(execute.values, _FIRST_DUE, {'most': limit})


def _acquire(
    connection: sa.Connection, uuid: str, owner: str, lease_s: float, new: typing.Any
) -> journal.Record | None:
    # Until this transaction ends, its former owner cannot record anything.
    before = new or rows.lock(connection, TABLE, uuid=uuid)
    if before is None:
        return None
    epoch = before.epoch + 1
    now = {'newest': epoch, 'holder': owner, 'lease_s': lease_s}
    if not execute.change(connection, _ACQUIRE, {'of': uuid, 'before': before.epoch, **now}):
        return None if new is None else _acquire(connection, uuid, owner, lease_s, None)
    if before.owner not in (None, owner):
        note = journal.Note('taken over', before.step, f'from {before.owner}')
        add_event(connection, uuid, owner, epoch, note)
    state = before.state if before.state == journal.CLEANING else journal.RUNNING
    columns = {**before._mapping, 'state': state, 'epoch': epoch, 'owner': owner}
    return types.SimpleNamespace(**columns)


def _renew(connection: sa.Connection, held: dict[str, int], owner: str, lease_s: float) -> None:
    for uuid, epoch in held.items():
        rows.change(
            connection,
            TABLE,
            {},
            computed=_LEASE,
            given={'lease_s': lease_s},
            uuid=uuid,
            epoch=epoch,
            owner=owner,
            state=(journal.RUNNING, journal.CLEANING),
        )


def _change(
    connection: sa.Connection,
    effect: journal.Effect | None,
    record: journal.Record,
    values: rows.Values,
    *notes: journal.Note,
    wake_in_s: float | None = None,
) -> None:
    if effect is not None:
        effect(connection)
    where: dict[str, typing.Any] = {name: getattr(record, name) for name in _HELD_BY}
    if wake_in_s is not None:
        where |= {'computed': _WAKE_LATER, 'given': {'wake_in_s': wake_in_s}}
    if not rows.change(connection, TABLE, values, **where):
        raise journal.LostLease(record.uuid)
    happened = [note for note in notes if note.what is not None]
    add_events(connection, record.uuid, record.owner, record.epoch, happened)
