"""Requests of people to a debugger: breakpoints are set, and stopped sagas continue.

A stopped saga has no owner. Its server stays in the state that the steps before have left.
"""

import abc
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import typing

from oslo_log import log

from nova_lite import cells as cells_module
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


def points_in(database: transactions.Database) -> dict[int, db_rows.Row]:
    """Return {id: row} of the breakpoints in the API database."""
    return {row.id: row for row in database.read(rows.every)}


def point_of(points: Iterable[db_rows.Row], saga: step_module.Saga, step: str) -> int | None:
    """Return the number of the breakpoint before a step of a saga, None without one."""
    for point in points:
        if (
            point.step == step
            and point.instance_uuid in (None, saga.instance_uuid)
            and point.kind in (None, saga.kind)
        ):
            number: int = point.id
            return number
    return None


class Stopping(abc.ABC):
    """Breakpoints and stopped sagas. A subclass knows the super-conductors that stop the sagas."""

    def __init__(self) -> None:
        # Only one request at a time decides how a stopped saga continues.
        self._going = runtime.Lock()
        # The timeouts of requests do not depend on the clock of the cloud.
        self._system = runtime.Runtime()

    # ---- super-conductors ----

    @property
    @abc.abstractmethod
    def _database(self) -> transactions.Database:
        """Return the API database."""

    @property
    @abc.abstractmethod
    def _cells(self) -> cells_module.Cells:
        """Return the cells of the cloud."""

    @property
    @abc.abstractmethod
    def _lease_s(self) -> float:
        """Return the seconds for which a lease on a saga is valid."""

    @abc.abstractmethod
    def _find_points(self) -> Mapping[int, db_rows.Row]:
        """Return {id: row of the database} of all breakpoints."""

    def _change(self, change: Callable[[], object]) -> None:
        """Change the breakpoints in the database. They are in effect when this returns."""
        change()

    @abc.abstractmethod
    def _submit(self, uuid: str) -> None:
        """Make a super-conductor take up a saga that may continue, at the latest by its sweep."""

    @abc.abstractmethod
    def _before_loss(self) -> None:
        """Make sure that another super-conductor takes over what one is about to lose."""

    @abc.abstractmethod
    def _lose(self, uuid: str) -> None:
        """Make the super-conductor that continues a saga lose it."""

    @abc.abstractmethod
    def _spare(self, uuid: str) -> None:
        """Undo `_lose`. Without effect if no loss was requested, or if the saga is lost."""

    @abc.abstractmethod
    def _is_lost(self, uuid: str) -> bool:
        """Return whether a super-conductor has lost the saga of `_lose`."""

    # ---- requests of people ----

    def show(self) -> Shown:
        """Return {breakpoints, stopped}: breakpoints, and sagas as `show_saga` returns them."""
        stopped = self._database.read(rows.stopped)
        return {
            'breakpoints': [
                {'id': row.id, 'server': row.instance_uuid, 'kind': row.kind, 'step': row.step}
                for row in self._find_points().values()
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
        self._change(
            lambda: self._database.write(rows.add, instance_uuid=uuid, kind=kind, step=step)
        )
        LOG.warning('Sagas stop before step "%s" of %s', step, uuid or f'any {kind}')

    def remove(self, number: int | None = None) -> None:
        """Remove one breakpoint or all. Sagas that it has stopped stay. Raise NoSuchBreakpoint."""
        known = self._find_points()
        if number is not None and number not in known:
            text = ', '.join(str(each) for each in known) or 'none'
            raise NoSuchBreakpoint(number=number, known=text)
        for each in known if number is None else [number]:
            self._change(functools.partial(self._database.write, rows.remove, each))

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
        self._before_loss()
        row = self._continue(server, breakpoints.GO, lose=True)
        if not self._wait(lambda: self._is_lost(row.uuid), BEGUN_S):
            reason = 'it is busy. It will lose the saga as soon as it picks the saga up'
            raise exception.Unavailable(service='The super-conductor', reason=reason)
        lost = self._database.read(sagas.get, row.uuid)
        return {**_shown(lost), 'lost_by': lost.owner, 'lease_s': self._lease_s}

    # ---- parts ----

    def _uuid_of(self, server: str) -> str:
        """Return the uuid of a server. Raise InstanceNotFound, NoUniqueMatch for a name."""
        return server_names.uuid_of(self._cells, server)

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

    def _continue(self, server: str, how: str, *, lose: bool = False) -> db_rows.Row:
        """Continue the stopped saga of a server, or make it lost. Return the row before that."""
        uuid = self._uuid_of(server)
        with self._going:
            row = self._stopped(uuid)
            if lose:
                # The engine calls `kills` as soon as the row has changed.
                self._lose(row.uuid)
            goes = False
            try:
                goes = self._database.write(rows.go_on, row.uuid, how)
            finally:
                if not goes:
                    self._spare(row.uuid)
            if not goes:
                raise NotStopped(server=server, reason=BUSY)
        self._submit(row.uuid)
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
