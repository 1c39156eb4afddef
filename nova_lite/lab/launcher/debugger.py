"""The debugger of an embedded cloud: sagas stop before steps, and go on when asked to.

A stopped saga has no owner. Its server stays as the steps before have left it.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import breakpoints as rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.lab.launcher import server_names
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.saga import journal

LOG = log.getLogger(__name__)

# How long a saga may take that is between being looked at and being stopped again.
AGAIN_S, LOOK_S = 5.0, 0.02
# How long a super-conductor may take to begin with a saga that it shall lose.
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

    start_other: called before a super-conductor loses a saga, so that there is another one
    """

    def __init__(self, start_other):
        self._start_other = start_other
        self._lock = runtime.Lock()
        # One request at a time decides how a stopped saga continues.
        self._going = runtime.Lock()
        self._managers = []
        # Rows by id, as in the database.
        self._points = {}
        # Of sagas that are to be lost, by uuid: it is set when that has happened.
        self._kills = {}
        # How long people wait for an answer does not depend on the clock that they change.
        self._system = runtime.Runtime()

    def attach(self, manager):
        """Stop the sagas of a super-conductor that is about to start."""
        points = {row.id: row for row in manager.world.api_db.read(rows.every)}
        with self._lock:
            self._points = points
            self._managers = [*self._managers, manager]
        manager.engine.debugger = self

    def detach(self):
        """Forget all super-conductors: they have ended."""
        with self._lock:
            self._managers, self._points, self._kills = [], {}, {}

    # ---- what engines ask ----

    def find(self, saga, step):
        for point in self._points.values():
            if (
                point.step == step
                and point.instance_uuid in (None, saga.instance_uuid)
                and point.kind in (None, saga.kind)
            ):
                return point.id
        return None

    def kills(self, uuid):
        killed = self._kills.pop(uuid, None)
        if killed is None:
            return False
        killed.set()
        return True

    # ---- what people ask ----

    def show(self):
        """Return {breakpoints, stopped}: lists of breakpoints, and of sagas as of `show_saga`."""
        stopped = self._database.read(rows.stopped)
        return {
            'breakpoints': [
                {'id': row.id, 'server': row.instance_uuid, 'kind': row.kind, 'step': row.step}
                for row in self._points.values()
            ],
            'stopped': [_shown(row) for row in stopped],
        }

    def show_saga(self, server=None, uuid=None):
        """Return what is known of a saga, or of the newest of a server. Raise NotFound."""
        if uuid is not None:
            return _shown(self._database.read(sagas.get, uuid))
        return _shown(self._newest(self._uuid_of(server)))

    def add(self, step, server=None, kind=None):
        """Add a breakpoint before a step, of a server or of a kind of saga or both.

        server: its name or uuid. Raise InstanceNotFound, NoUniqueMatch, NoSuchKind, NoSuchStep.
        """
        if server is None and kind is None:
            raise exception.Invalid(reason='name a server or a kind of saga')
        if kind is not None:
            kinds.require(kind)
        uuid = None if server is None else self._uuid_of(server)
        if uuid is not None and not self._is_there(uuid):
            raise exception.InstanceNotFound(instance_id=server)
        self._check_step(step, uuid, kind)
        with self._lock:
            row = self._database.write(rows.add, instance_uuid=uuid, kind=kind, step=step)
            self._points = {**self._points, row.id: row}
        LOG.warning('Sagas stop before step "%s" of %s', step, uuid or f'any {kind}')

    def remove(self, number=None):
        """Remove a breakpoint, or all. What has stopped there stays. Raise NoSuchBreakpoint."""
        with self._lock:
            numbers = list(self._points) if number is None else [number]
            if number is not None and number not in self._points:
                known = ', '.join(str(each) for each in self._points) or 'none'
                raise NoSuchBreakpoint(number=number, known=known)
            for each in numbers:
                self._database.write(rows.remove, each)
                self._points = {key: row for key, row in self._points.items() if key != each}

    def go_on(self, server, how):
        """Continue the stopped saga of a server, and return it. Raise NotStopped.

        how: saga.breakpoints.GO or STEP
        """
        row = self._continue(server, how)
        return _shown(self._database.read(sagas.get, row.uuid))

    def kill_here(self, server):
        """Make a super-conductor lose the stopped saga of a server. Return the saga, and that one.

        Its lease stays, and nothing is recorded. Raise NotStopped, Unavailable.
        """
        self._stopped(self._uuid_of(server))
        self._start_other()
        killed = runtime.Event()
        row = self._continue(server, breakpoints.GO, killed)
        if not self._wait(killed.is_set, BEGUN_S):
            reason = 'it is busy. The saga is lost as soon as it begins with it'
            raise exception.Unavailable(service='The super-conductor', reason=reason)
        lost = self._database.read(sagas.get, row.uuid)
        lease_s = self._manager.conf.conductor.lease_s
        return {**_shown(lost), 'lost_by': lost.owner, 'lease_s': lease_s}

    # ---- parts ----

    @property
    def _manager(self):
        managers = self._managers
        if not managers:
            raise exception.Unavailable(service='The cloud', reason='it starts or is being reset')
        return managers[0]

    @property
    def _database(self):
        return self._manager.world.api_db

    def _uuid_of(self, server):
        """Return the uuid of a server. Raise InstanceNotFound, NoUniqueMatch for a name."""
        return server_names.uuid_of(self._manager.world.cells, server)

    def _is_there(self, uuid):
        mapping = self._database.read(instance_mappings.find, uuid)
        return mapping is not None and not mapping.queued_for_delete

    def _newest(self, uuid):
        """Return the newest saga of a server, which may be deleted. Raise NotStopped."""
        found = self._database.read(sagas.every, instance_uuid=uuid)
        if found:
            return found[0]
        if not self._is_there(uuid):
            raise exception.InstanceNotFound(instance_id=uuid)
        raise NotStopped(server=uuid, reason='it has had no saga')

    def _stopped(self, uuid):
        """Return the row of the stopped saga of a server. Raise NotStopped."""

        def find():
            row = self._newest(uuid)
            if rows.mark_of(row) is None:
                reason = f'its last saga, {row.kind}, is {row.state} after step "{row.step}"'
                raise NotStopped(server=uuid, reason=reason)
            return row

        # One with an owner is just being looked at.
        self._wait(lambda: find().owner is None, AGAIN_S)
        return find()

    def _wait(self, is_so, seconds):
        """Wait until `is_so()`, at most for these seconds; return whether it is."""
        deadline = self._system.monotonic() + seconds
        while not (found := is_so()) and self._system.monotonic() < deadline:
            self._system.sleep(LOOK_S)
        return found

    def _continue(self, server, how, killed=None):
        """Continue or lose the stopped saga of a server. Return its row before that.

        killed: the Event to set when it is lost; None to let it go on
        """
        uuid = self._uuid_of(server)
        with self._going:
            row = self._stopped(uuid)
            if killed is not None:
                # It is asked for as soon as the row has changed.
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

    def _check_step(self, step, server, kind):
        """Raise NoSuchStep, with the ids of the steps there are."""
        if any(step in kinds.steps(each) for each in ([kind] if kind else kinds.KINDS)):
            return
        if kind is None and (active := self._database.read(sagas.find_active, server)):
            kind = active.kind
        if kind:
            known = f'Use one of: {", ".join(kinds.steps(kind))}.'
            raise NoSuchStep(what=f'Saga {kind} has', step=step, known=known)
        known = f'`nova-lite saga steps KIND` lists those of {", ".join(sorted(kinds.KINDS))}.'
        raise NoSuchStep(what='Sagas have', step=step, known=known)


def _shown(row):
    """Return a saga as a document.

    state: of the journal, or `stopped`; before: the step before which it is stopped, or else None
    undo: whether that step would be undone; step: the last that ended
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
