"""The engine acquires sagas, runs them in threads, and renews their leases.

`run` runs one saga; `queue` selects the next one.
"""

import collections.abc
import functools
import heapq
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.runtime import workers
from nova_lite.saga import breakpoints
from nova_lite.saga import cleaning
from nova_lite.saga import journal as journal_module
from nova_lite.saga import queue as queue_module
from nova_lite.saga import retries
from nova_lite.saga import run as run_module
from nova_lite.saga import step as step_module

LOG = log.getLogger(__name__)

# Number of due sagas that a sweep submits.
SWEPT = 100
# What the log says of a saga that another super-conductor runs.
TAKEN_OVER = 'was taken over after its lease was lost'

Lanes: typing.TypeAlias = collections.abc.Iterable[queue_module.Lane]
LanesOf: typing.TypeAlias = typing.Callable[[journal_module.Data, journal_module.Data], Lanes]
MakeSaga: typing.TypeAlias = typing.Callable[[journal_module.Record], step_module.Saga]


def no_lanes(
    _arguments: journal_module.Data, _data: journal_module.Data
) -> tuple[queue_module.Lane, ...]:
    """Return the lanes of sagas that need no host and no cell."""
    return ()


class Engine:
    """Runs the sagas of one super-conductor.

    make_saga: function that takes a journal record and returns its Saga
    lanes: function that takes the arguments and the data of a saga and returns the queue.Lanes
        that it is known to need
    debugger: breakpoints.Debugger, or None; set before the engine starts
    """

    debugger: breakpoints.Debugger | None = None

    def __init__(
        self,
        journal: journal_module.Journal,
        make_saga: MakeSaga,
        *,
        owner: str,
        lease_s: float = 15,
        threads: int = 8,
        lanes: LanesOf = no_lanes,
    ) -> None:
        self.journal, self.make_saga = journal, make_saga
        self.owner, self.lease_s = owner, lease_s
        self.stopping = False
        self._pool, self._threads = workers.Executor(threads), threads
        self._queue, self._lanes = queue_module.Queue(threads), lanes
        self._workers = 0
        # {saga uuid: epoch} of the sagas that run; None before the epoch is known.
        self._held: dict[str, int | None] = {}
        # {saga uuid: epoch} of sagas whose lease the debugger made this engine drop. Another engine
        # takes them over.
        self._lost: dict[str, int] = {}
        # {saga uuid: record} of the sagas in the queue that have had no owner.
        self._new: dict[str, journal_module.Record] = {}
        # {saga uuid: (time, lanes)} of the sagas to wake. The heap may have times that are no
        # longer valid.
        self._alarms: dict[str, tuple[float, Lanes]] = {}
        self._times: list[tuple[float, str]] = []
        self._lock = runtime.Condition()
        self._clock: typing.Any = None

    # ---- life ----

    def start(self) -> None:
        """Start the thread that renews leases and wakes parked sagas."""
        self._clock = runtime.spawn(self._keep_time, name='saga-clock')

    def stop(self) -> None:
        """Start no further step, wait for the running steps, and release the leases."""
        with self._lock:
            self.stopping = True
            self._lock.notify_all()
        self._pool.shutdown(wait=True)
        if self._clock is not None:
            self._clock.join()

    def abandon(self) -> None:
        """Stop like a killed process: running steps end, and nothing is recorded.

        Leases are not released and expire. For tests and the demo.
        """
        with self._lock:
            self.stopping = True
            self.journal = journal_module.Abandoned()
            self._lock.notify_all()

    def sweep(self) -> int:
        """Submit due sagas without an owner. Return their number.

        Sagas that wait in this engine for a thread are due as well. They do not count in the
        limit, so that they do not hide other sagas.
        """
        with self._lock:
            waiting = len(self._queue)
        uuids = self.journal.due(SWEPT + waiting)
        for uuid in uuids:
            self.submit(uuid)
        return len(uuids)

    def submit(self, uuid: str) -> None:
        """Queue a saga for the pool, unless it already waits or runs here."""
        with self._lock:
            if not self._is_wanted(uuid):
                return
        try:
            record = self.journal.find(uuid)
        except exception.Unavailable as error:
            LOG.warning('Cannot start saga %s now: %s. The sweep will start it.', uuid, error)
            return
        if record is not None and record.epoch != self._lost.get(uuid):
            self._enqueue(uuid, self._lanes(record.arguments, record.data), record)

    def _is_wanted(self, uuid: str) -> bool:
        return not (self.stopping or uuid in self._held or uuid in self._queue)

    def _enqueue(
        self, uuid: str, lanes: Lanes, record: journal_module.Record | None = None
    ) -> None:
        with self._lock:
            if self._is_wanted(uuid) and self._queue.put(uuid, lanes):
                if record is not None and not record.epoch:
                    self._new[uuid] = record
                self._add_worker()

    def _add_worker(self) -> None:
        if self._workers < self._threads:
            self._workers += 1
            self._pool.submit(self._work)

    def _work(self) -> None:
        """Run sagas one after the other until none may run."""
        while (entry := self._take()) is not None:
            try:
                self._run_logged(entry)
            finally:
                with self._lock:
                    self._queue.leave(entry)

    def _take(self) -> queue_module.Entry | None:
        with self._lock:
            entry = None if self.stopping else self._queue.take()
            if entry is None:
                self._workers -= 1
                return None
            self._held[entry.uuid] = None
            if len(self._queue):
                # The saga that has just left its lanes may have made room for more than one.
                self._add_worker()
            return entry

    def admit(self, entry: queue_module.Entry | None, saga: step_module.Saga) -> bool:
        """Add the hosts that a running saga has found to its lanes. Return False if one is busy."""
        if entry is None:
            return True
        lanes = self._lanes(saga.plain_arguments, saga.data)
        with self._lock:
            return self._queue.widen(entry, lanes)

    # ---- time ----

    def _keep_time(self) -> None:
        """Wake sagas that are due and renew leases, until stopped."""
        renew_at = runtime.monotonic() + self.lease_s / 3
        while True:
            with self._lock:
                now = runtime.monotonic()
                next_at = min([renew_at, *(at for at, _uuid in self._times[:1])])
                if not self.stopping and next_at > now:
                    self._lock.wait(next_at - now, idle=not self._times)
                if self.stopping:
                    return
                now = runtime.monotonic()
                due = self._ring(now)
                held = {uuid: epoch for uuid, epoch in self._held.items() if epoch is not None}
            for uuid, lanes in due:
                self._enqueue(uuid, lanes)
            if now >= renew_at:
                renew_at = now + self.lease_s / 3
                self._renew(held)

    def _ring(self, now: float) -> list[tuple[str, Lanes]]:
        """Return (uuid, lanes) of the sagas whose alarm is due."""
        due = []
        while self._times and self._times[0][0] <= now:
            at, uuid = heapq.heappop(self._times)
            # A saga that was parked again has a later alarm.
            if self._alarms.get(uuid, (None,))[0] == at:
                due.append((uuid, self._alarms.pop(uuid)[1]))
        return due

    def alarm(self, saga: step_module.Saga, seconds: float) -> None:
        """Continue a parked saga after that time."""
        lanes = self._lanes(saga.plain_arguments, saga.data)
        with self._lock:
            at = runtime.monotonic() + seconds
            self._alarms[saga.uuid] = at, lanes
            heapq.heappush(self._times, (at, saga.uuid))
            self._lock.notify_all()

    def _renew(self, held: dict[str, int]) -> None:
        if not held:
            return
        try:
            self.journal.renew(held, self.owner, self.lease_s)
        except exception.Unavailable as error:
            LOG.warning('Cannot renew leases on sagas: %s', error)
        except Exception:
            # No error may end this thread: no lease would be renewed and no saga woken.
            LOG.exception('Cannot renew leases on sagas')

    # ---- one saga ----

    def let_go(self, record: journal_module.Record) -> None:
        """Stop renewing the lease of a record, unless the saga was acquired again."""
        with self._lock:
            if self._held.get(record.uuid) == record.epoch:
                del self._held[record.uuid]

    def _run_logged(self, entry: queue_module.Entry) -> None:
        try:
            self.run(entry.uuid, entry)
        except exception.Unavailable as error:
            LOG.warning(
                'Cannot record the progress of saga %s: %s. The sweep retries.', entry.uuid, error
            )
        except Exception:
            # Without this a pool thread would end with no log line. The lease expires, and the
            # sweep takes up the saga.
            LOG.exception('Unexpected error in saga %s. The sweep continues it.', entry.uuid)

    def run(self, uuid: str, entry: queue_module.Entry | None = None) -> str | None:
        """Run a saga until it ends, is parked, or has another owner. Return its state."""
        record = self._acquire(uuid)
        if record is None:
            return None
        try:
            saga = self._known(record)
            if saga is None:
                return journal_module.PARKED
            saga.ctxt = saga.ctxt.guarded(functools.partial(self.journal.require, record))
            with saga.ctxt.bound():
                return self._go(saga, record, entry)
        except (journal_module.LostLease, exception.StaleEpoch):
            LOG.warning('Saga %s %s; stopping at epoch %s', record.uuid, TAKEN_OVER, record.epoch)
            return None
        except breakpoints.Killed:
            LOG.warning(
                'Saga %s was lost at epoch %s, as a debugger asked. Another super-conductor takes '
                'it over when its lease has expired.',
                record.uuid,
                record.epoch,
            )
            with self._lock:
                self._lost[record.uuid] = record.epoch
                self._alarms.pop(record.uuid, None)
            return None
        finally:
            self.let_go(record)

    def _known(self, record: journal_module.Record) -> step_module.Saga | None:
        """Return the saga of a record, or None if this release cannot run its plan."""
        try:
            saga = self.make_saga(record)
            saga.results.check(step.id for step in saga.steps())
            if step_module.PLAN in saga.data:
                saga.keep(saga.data[step_module.PLAN])
            return saga
        except journal_module.UnknownPlan as error:
            LOG.error(
                'Saga %s (%s of server %s) was started by another release and is parked: %s',
                record.uuid,
                record.kind,
                record.instance_uuid,
                error,
            )
            self._set_aside(record, str(error))
            return None

    def _set_aside(self, record: journal_module.Record, why: str) -> None:
        """Park a saga for a release that knows its plan. Until then it counts as failing."""
        known = step_module.ASIDE in record.data
        note = journal_module.Note(None if known else 'unknown', record.step, why)
        later: dict[str, typing.Any] = {
            'wake_in_s': retries.LONGEST_WAIT_S,
            'attempts': max(record.attempts, retries.MANY_ATTEMPTS),
            'data': {step_module.ASIDE: record.attempts, **record.data},
            'position': record.position,
        }
        if record.state == journal_module.CLEANING:
            self.journal.clean_later(record, notes=[note], **later)
        else:
            self.journal.park(record, [note], **later)

    def _go(
        self,
        saga: step_module.Saga,
        record: journal_module.Record,
        entry: queue_module.Entry | None,
    ) -> str:
        if record.state == journal_module.CLEANING:
            return cleaning.Cleaning(self, saga, record).go()
        return run_module.Run(self, saga, record, entry).go()

    def _acquire(self, uuid: str) -> journal_module.Record | None:
        """Acquire a saga. Return its record, or None if it is not due or has another owner."""
        record, new = None, self._new.pop(uuid, None)
        try:
            record = self.journal.acquire(uuid, self.owner, self.lease_s, new=new)
        finally:
            with self._lock:
                if record is not None:
                    self._held[uuid] = record.epoch
                elif self._held.get(uuid, 0) is None:
                    del self._held[uuid]
        return record
