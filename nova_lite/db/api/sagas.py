"""The journal of sagas in the API database (implements saga/journal.py)."""

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import clock
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.saga import journal

TABLE = models.Saga.__table__
EVENTS = models.SagaEvent.__table__
_NEWEST = sa.select(TABLE.c.epoch).where(TABLE.c.uuid == sa.bindparam('uuid'))
_HOLD = _NEWEST.with_for_update()
# Computed columns, and conditions.
_WAKE_LATER = {'wake_at': clock.after('wake_in_s')}
_WAKE_NOW = {'wake_at': clock.now()}
_LEASE = {'lease_until': clock.after('lease_s')}
_HAS_SERVER = TABLE.c.active_for.is_not(None)
_HAS_SERVER_OR_CLEANS = sa.or_(_HAS_SERVER, TABLE.c.state == journal.CLEANING)
_NEWEST_FIRST = TABLE.c.created_at.desc()
# No one holds it. A lease that ends later than any is one of a clock that was set.
_FREE = sa.and_(
    TABLE.c.state.in_(journal.OPEN),
    sa.or_(
        TABLE.c.lease_until.is_(None),
        TABLE.c.lease_until < clock.now(),
        TABLE.c.lease_until > clock.after(journal.LONGEST_LEASE_S),
    ),
)
# It is to be looked at, as is one that is to be looked at later than any may be.
_DUE = sa.or_(TABLE.c.wake_at <= clock.now(), TABLE.c.wake_at > clock.after(journal.LONGEST_WAIT_S))
_LATE = sa.select(clock.now(), TABLE.c.wake_at, TABLE.c.lease_until).where(_FREE, _DUE)
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
        # The nudge for a new saga comes before the time at which the sweep would look.
        sa.or_(_DUE, TABLE.c.epoch == 0),
    )
    .values(
        **_LEASE,
        state=sa.case((TABLE.c.state == journal.CLEANING, journal.CLEANING), else_=journal.RUNNING),
        epoch=sa.bindparam('newest', type_=TABLE.c.epoch.type),
        owner=sa.bindparam('holder', type_=TABLE.c.owner.type),
    )
)


def create(connection, ctxt, *, uuid, kind, instance_uuid, arguments, wake_in_s=0, size=None):
    """Record the intent to run a saga; raises Conflict if the server is in another one.

    wake_in_s: when the sweep may take it up if the nudge is lost
    size: {'vcpus', 'memory_mb'} that quotas count for the server until the saga ends, if
        that is more than its mapping says; None for a saga that changes no size
    """
    conflict = exception.Conflict(reason='another operation moves the server already')
    if rows.find(connection, TABLE, active_for=instance_uuid) is not None:
        raise conflict
    values = ctxt.to_wire()
    values.pop('auth_token')
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
    _event(connection, uuid, 'api', 0, journal.Note('accepted'))


def get(connection, uuid):
    """One saga; raises SagaNotFound."""
    return rows.get(connection, TABLE, exception.SagaNotFound(uuid=uuid), uuid=uuid)


def every(connection, *, active=False, cleaning=False, instance_uuid=None):
    """Sagas, newest first. active: those that have a server; cleaning: and those that clean up"""
    conditions = [_HAS_SERVER_OR_CLEANS if cleaning else _HAS_SERVER] if active else []
    where = {} if instance_uuid is None else {'instance_uuid': instance_uuid}
    return rows.every(connection, TABLE, *conditions, order_by=_NEWEST_FIRST, **where)


def events(connection, uuid):
    """What happened to a saga, in order."""
    return rows.every(connection, EVENTS, saga_uuid=uuid, order_by=EVENTS.c.id)


def standing(connection):
    """(kind, last step, direction, state, how many) of those that have not ended."""
    columns = (TABLE.c.kind, TABLE.c.step, TABLE.c.direction, TABLE.c.state)
    return _counted(connection, columns, TABLE.c.active_for.is_not(None))


def failing(connection):
    """(kind, last step, state, how many) of those that fail again and again, or cannot clean."""
    columns = (TABLE.c.kind, TABLE.c.step, TABLE.c.state)
    many = TABLE.c.attempts >= journal.MANY_ATTEMPTS
    return _counted(connection, columns, TABLE.c.state.in_(journal.OPEN), many)


def _counted(connection, columns, *which):
    query = sa.select(*columns, sa.func.count()).where(*which).group_by(*columns)
    return [tuple(row) for row in connection.execute(query)]


def lag_s(connection):
    """Seconds since the one most overdue should have been taken up; 0 when none is."""
    found = connection.execute(_LATE).all()
    # One that is held is not late before its lease has ended. One that lies far ahead was
    # written before the clock was set back.
    late = [(now - max(filter(None, times))).total_seconds() for now, *times in found]
    return max([0.0, *late])


def find_active(connection, instance_uuid):
    """The saga that moves a server now, or None."""
    return rows.find(connection, TABLE, active_for=instance_uuid)


def wake(connection, uuid):
    """Let a saga that waits be looked at now; whether there is one."""
    return bool(
        rows.change(connection, TABLE, {}, computed=_WAKE_NOW, uuid=uuid, state=journal.PARKED)
    )


def require_newest(connection, ctxt):
    """Raise StaleEpoch unless the epoch in `ctxt` is the newest of its saga."""
    _require_equal(_newest(connection, ctxt.saga), ctxt)


def hold(connection, ctxt):
    """As `require_newest`; who takes the saga over waits until the transaction ends."""
    _require_equal(connection.scalar(_HOLD, {'uuid': ctxt.saga}), ctxt)


def _newest(connection, uuid):
    """The epoch of a saga's owner; None when there is no such saga."""
    return connection.scalar(_NEWEST, {'uuid': uuid})


def _require_equal(newest, ctxt):
    if newest != ctxt.epoch:
        raise exception.StaleEpoch(saga=ctxt.saga, seen=newest, epoch=ctxt.epoch)


def withdraw(connection, uuid):
    """Take back an intent that nobody has taken up; False when someone has."""
    if rows.lock(connection, TABLE, uuid=uuid, epoch=0) is None:
        return False
    rows.delete(connection, EVENTS, saga_uuid=uuid)
    rows.delete(connection, TABLE, uuid=uuid)
    return True


def _event(connection, uuid, owner, epoch, note):
    rows.insert(
        connection,
        EVENTS,
        {
            'saga_uuid': uuid,
            'at': runtime.naive_now(),
            'owner': owner,
            'epoch': epoch,
            **note._asdict(),
        },
    )


class Journal:
    """The journal over a Database."""

    def __init__(self, database):
        self.database = database

    def acquire(self, uuid, owner, lease_s):
        return self.database.write(_acquire, uuid, owner, lease_s)

    def renew(self, held, owner, lease_s):
        self.database.write(_renew, held, owner, lease_s)

    def require(self, record):
        newest = self.database.read(_newest, record.uuid)
        if newest != record.epoch:
            raise journal.LostLease(record.uuid)

    def advance(self, record, note, *, position, direction, data, error=None):
        values = {
            'position': position,
            'data': data,
            'direction': direction,
            'step': note.step,
            'attempts': 0,
        }
        if error is not None:
            values['error'] = error
        self.database.write(_change, record, values, note)

    def park(self, record, note, *, position, wake_in_s, attempts, data):
        values = {
            'state': journal.PARKED,
            'position': position,
            'attempts': attempts,
            'data': data,
            'owner': None,
            'lease_until': None,
        }
        if note.what == 'waits':
            # Polls of a long wait would fill the table: the first one is recorded.
            values['waits_on'] = note.step
            if record.waits_on == note.step:
                note = journal.Note(None)
        wake_in_s = min(wake_in_s, journal.LONGEST_WAIT_S)
        self.database.write(_change, record, values, note, wake_in_s=wake_in_s)

    def finish(self, record, *, state, note=None, position=0, data=None):
        values = {}
        if note is not None:
            values = {'position': position, 'data': data, 'step': note.step, 'attempts': 0}
        values |= {
            'state': state,
            'active_for': None,
            'owner': None,
            'lease_until': None,
            'finished_at': runtime.naive_now(),
        }
        self.database.write(_change, record, values, note, journal.Note(state))

    def clean_later(self, record, *, wake_in_s, attempts, data, note=None, position=None):
        values = {
            'state': journal.CLEANING,
            'active_for': None,
            # The mapping says what the server counts for, also while a duty holds it.
            'vcpus': None,
            'memory_mb': None,
            'owner': None,
            'lease_until': None,
            'attempts': attempts,
            'data': data,
        }
        if position is not None:
            values['position'] = position
        notes = [note]
        if record.state != journal.CLEANING:
            values['finished_at'] = runtime.naive_now()
            notes.append(journal.Note(journal.CLEANING))
        self.database.write(_change, record, values, *notes, wake_in_s=wake_in_s)

    def clean_soon(self, record, *, wake_in_s, data):
        values = {'owner': None, 'lease_until': None, 'data': data}
        self.database.write(_change, record, values, wake_in_s=wake_in_s)

    def hold_server(self, record):
        try:
            self.database.write(_change, record, {'active_for': record.instance_uuid})
        except db_exception.DBDuplicateEntry:
            return False
        return True

    def find(self, uuid):
        return self.database.read(rows.find, TABLE, uuid=uuid)

    def due(self, limit):
        return self.database.read(_find_due, limit)


def _acquire(connection, uuid, owner, lease_s):
    before = rows.find(connection, TABLE, uuid=uuid)
    if before is None:
        return None
    done = connection.execute(
        _ACQUIRE,
        {
            'of': uuid,
            'before': before.epoch,
            'newest': before.epoch + 1,
            'holder': owner,
            'lease_s': lease_s,
        },
    )
    if not done.rowcount:
        return None
    if before.owner not in (None, owner):
        note = journal.Note('taken over', before.step, f'from {before.owner}')
        _event(connection, uuid, owner, before.epoch + 1, note)
    return rows.find(connection, TABLE, uuid=uuid)


def _renew(connection, held, owner, lease_s):
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


def _change(connection, record, values, *notes, wake_in_s=None):
    held = {'uuid': record.uuid, 'epoch': record.epoch, 'state': record.state}
    later = {}
    if wake_in_s is not None:
        later = {'computed': _WAKE_LATER, 'given': {'wake_in_s': wake_in_s}}
    if not rows.change(connection, TABLE, values, **later, **held):
        raise journal.LostLease(record.uuid)
    for note in notes:
        if note is not None and note.what is not None:
            _event(connection, record.uuid, record.owner, record.epoch, note)


def _find_due(connection, limit):
    return connection.scalars(_FIRST_DUE, {'most': limit}).all()
