"""The debugger of an embedded cloud stops sagas before steps, and continues them on request.

A stopped saga has no owner. Its server stays in the state that the steps before have left.
"""

from collections.abc import Callable
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.db.api import breakpoints as rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.lab import server_names
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.saga import journal
from nova_lite.saga import step as step_module
from nova_lite.superconductor import manager as manager_module

LOG = log.getLogger(__name__)

# A saga, or the breakpoints and the stopped sagas, as JSON.
Shown: typing.TypeAlias = dict[str, typing.Any]

# A super-conductor that looks at a stopped saga owns the saga for at most this long.
AGAIN_S, LOOK_S = 5.0, 0.02
# A super-conductor takes at most this long to pick up the saga that it must lose.
BEGUN_S = 30.0
BUSY = 'a super-conductor has just taken its saga up. Repeat the command'


class NoSuchStep(exception.NotFound):
    msg = '%(what)s no step %(step)r. %(known)s'


class NoSuchBreakpoint(exception.NotFound):
    msg = 'There is no breakpoint %(number)s. `nova-lite saga break --list` shows: %(known)s.'


class NotStopped(exception.Conflict):
    msg = (
        'Server %(server)s is not stopped: %(reason)s. `nova-lite saga break` stops its next saga, '
        'or this one before a later step.'
    )


class Debugger:
    """Stops the sagas of the super-conductors in this process (a saga.breakpoints.Debugger).

    start_other: starts another super-conductor; called before one must lose a saga
    """

    def __init__(self, start_other: Callable[[], None]) -> None:
        self._start_other = start_other
        self._lock = runtime.Lock()
        # Only one request at a time decides how a stopped saga continues.
        self._going = runtime.Lock()
        self._managers: list[manager_module.SuperConductor] = []
        # {id: row of the database}
        self._points: dict[int, db_rows.Row] = {}
        # {uuid of a saga that must be lost: event that is set when the saga is lost}
        self._kills: dict[str, runtime.Event] = {}
        # The timeouts of requests do not depend on the clock of the cloud.
        self._system = runtime.Runtime()

    def attach(self, manager: manager_module.SuperConductor) -> None:
        """Stop the sagas of a super-conductor from now on. Call this before its start."""
        points = {row.id: row for row in manager.world.api_db.read(rows.every)}
        with self._lock:
            self._points = points
            self._managers = [*self._managers, manager]
        manager.engine.debugger = self

    def detach(self) -> None:
        """Forget all super-conductors, which have ended."""
        with self._lock:
            self._managers, self._points, self._kills = [], {}, {}

    # ---- requests of engines ----

    def find(self, saga: step_module.Saga, step: str) -> int | None:
        for point in self._points.values():
            if (
                point.step == step
                and point.instance_uuid in (None, saga.instance_uuid)
                and point.kind in (None, saga.kind)
            ):
                number: int = point.id
                return number
        return None

    def kills(self, uuid: str) -> bool:
        killed = self._kills.pop(uuid, None)
        if killed is None:
            return False
        killed.set()
        return True

    # ---- requests of people ----

    def show(self) -> Shown:
        """Return {breakpoints, stopped}: breakpoints, and sagas as `show_saga` returns them."""
        stopped = self._database.read(rows.stopped)
        return {
            'breakpoints': [
                {'id': row.id, 'server': row.instance_uuid, 'kind': row.kind, 'step': row.step}
                for row in self._points.values()
            ],
            'stopped': [_shown(row) for row in stopped],
        }

    def show_saga(self, server: str | None = None, uuid: str | None = None) -> Shown:
        """Return the saga with a uuid, or the newest saga of a server. Raise NotFound."""
        if uuid is not None:
            return _shown(self._database.read(sagas.get, uuid))
        if server is None:
            raise exception.Invalid(reason='name a server or a saga')
        return _shown(self._newest(self._uuid_of(server)))

    def add(self, step: str, server: str | None = None, kind: str | None = None) -> None:
        """Add a breakpoint before a step, for the sagas of a server or of a kind, or both.

        server: name or uuid. Raise InstanceNotFound, NoUniqueMatch, NoSuchKind, NoSuchStep.
        """
        if server is None and kind is None:
            raise exception.Invalid(reason='name a server or a kind of saga')
        if kind is not None:
            kinds.require(kind)
        uuid = None if server is None else self._uuid_of(server)
        if uuid is not None and not self._exists(uuid):
            raise exception.InstanceNotFound(instance_id=server)
        self._check_step(step, uuid, kind)
        with self._lock:
            row = self._database.write(rows.add, instance_uuid=uuid, kind=kind, step=step)
            self._points = {**self._points, row.id: row}
        LOG.warning('Sagas stop before step "%s" of %s', step, uuid or f'any {kind}')

    def remove(self, number: int | None = None) -> None:
        """Remove one breakpoint or all. Sagas that it has stopped stay. Raise NoSuchBreakpoint."""
        with self._lock:
            numbers = list(self._points) if number is None else [number]
            if number is not None and number not in self._points:
                known = ', '.join(str(each) for each in self._points) or 'none'
                raise NoSuchBreakpoint(number=number, known=known)
            for each in numbers:
                self._database.write(rows.remove, each)
                self._points = {key: row for key, row in self._points.items() if key != each}

    def go_on(self, server: str, how: str) -> Shown:
        """Continue the stopped saga of a server. Return the saga. Raise NotStopped.

        how: saga.breakpoints.GO or STEP
        """
        row = self._continue(server, how)
        return _shown(self._database.read(sagas.get, row.uuid))

    def kill_here(self, server: str) -> Shown:
        """Make a super-conductor lose the stopped saga of a server, as if it was killed.

        The lease stays, and nothing is recorded. Return the saga with `lost_by`, the name of the
        super-conductor, and `lease_s`. Raise NotStopped, Unavailable.
        """
        self._stopped(self._uuid_of(server))
        self._start_other()
        killed = runtime.Event()
        row = self._continue(server, breakpoints.GO, killed)
        if not self._wait(killed.is_set, BEGUN_S):
            reason = 'it is busy. It will lose the saga as soon as it picks the saga up'
            raise exception.Unavailable(service='The super-conductor', reason=reason)
        lost = self._database.read(sagas.get, row.uuid)
        lease_s = self._manager.conf.conductor.lease_s
        return {**_shown(lost), 'lost_by': lost.owner, 'lease_s': lease_s}

    # ---- parts ----

    @property
    def _manager(self) -> manager_module.SuperConductor:
        managers = self._managers
        if not managers:
            raise exception.Unavailable(service='The cloud', reason='it starts or is being reset')
        return managers[0]

    @property
    def _database(self) -> transactions.Database:
        return self._manager.world.api_db

    def _uuid_of(self, server: str) -> str:
        """Return the uuid of a server. Raise InstanceNotFound, NoUniqueMatch for a name."""
        return server_names.uuid_of(self._manager.world.cells, server)

    def _exists(self, uuid: str) -> bool:
        mapping = self._database.read(instance_mappings.find, uuid)
        return mapping is not None and not mapping.queued_for_delete

    def _newest(self, uuid: str) -> db_rows.Row:
        """Return the newest saga of a server, also of a deleted server. Raise NotStopped."""
        found = self._database.read(sagas.every, instance_uuid=uuid)
        if found:
            return found[0]
        if not self._exists(uuid):
            raise exception.InstanceNotFound(instance_id=uuid)
        raise NotStopped(server=uuid, reason='it has had no saga')

    def _stopped(self, uuid: str) -> db_rows.Row:
        """Return the row of the stopped saga of a server. Raise NotStopped."""

        def find() -> db_rows.Row:
            row = self._newest(uuid)
            if rows.mark_of(row) is None:
                reason = f'its last saga, {row.kind}, is {row.state} after step "{row.step}"'
                raise NotStopped(server=uuid, reason=reason)
            return row

        # A super-conductor that only looks at the saga owns it for a moment.
        self._wait(lambda: find().owner is None, AGAIN_S)
        return find()

    def _wait(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Wait until `is_so()` is true, or until the time is up. Return its last value."""
        deadline = self._system.monotonic() + seconds
        while not (found := is_so()) and self._system.monotonic() < deadline:
            self._system.sleep(LOOK_S)
        return found

    def _continue(self, server: str, how: str, killed: runtime.Event | None = None) -> db_rows.Row:
        """Continue the stopped saga of a server, or make it lost. Return the row before that.

        killed: event to set when the saga is lost; None to continue the saga
        """
        uuid = self._uuid_of(server)
        with self._going:
            row = self._stopped(uuid)
            if killed is not None:
                # The engine calls `kills` as soon as the row has changed.
                self._kills[row.uuid] = killed
            goes = False
            try:
                goes = self._database.write(rows.go_on, row.uuid, how)
            finally:
                if not goes:
                    self._kills.pop(row.uuid, None)
            if not goes:
                raise NotStopped(server=server, reason=BUSY)
        self._manager.engine.submit(row.uuid)
        return row

    def _check_step(self, step: str, server: str | None, kind: str | None) -> None:
        """Raise NoSuchStep, with the ids of the existing steps, unless the step exists."""
        if any(step in kinds.steps(each) for each in ([kind] if kind else kinds.KINDS)):
            return
        if server is not None and kind is None:
            active = self._database.read(sagas.find_active, server)
            kind = None if active is None else active.kind
        if kind:
            known = f'Use one of: {", ".join(kinds.steps(kind))}.'
            raise NoSuchStep(what=f'Saga {kind} has', step=step, known=known)
        known = f'`nova-lite saga steps KIND` lists those of {", ".join(sorted(kinds.KINDS))}.'
        raise NoSuchStep(what='Sagas have', step=step, known=known)


def _shown(row: db_rows.Row) -> Shown:
    """Return the row of a saga as JSON.

    state: of the journal, or `stopped`
    before: step before which the saga is stopped, or None; undo: whether the step would be undone
    step: last step that has ended
    """
    mark = rows.mark_of(row)
    return {
        'uuid': row.uuid,
        'kind': row.kind,
        'server': row.instance_uuid,
        'state': breakpoints.STOPPED if mark else row.state,
        'before': mark and mark['step'],
        'undo': mark is not None and mark['direction'] == journal.UNDO,
        'breakpoint': mark and mark['number'],
        'step': row.step,
    }
