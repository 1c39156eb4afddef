"""Work on guests that waits for hypervisors without occupying a thread.

Work is a generator. It yields a job of the driver to wait for the end of that job, or a Pause
to wait for some time, and a pool of threads resumes it. Work does not survive a restart: work
that is started again under the same request id finds the jobs of the driver (see `resume`).
"""

import collections
from collections.abc import Callable
from collections.abc import Generator
import dataclasses
import enum
import heapq
import itertools
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.runtime import workers
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

LOG = log.getLogger(__name__)

IDLE_S = 60.0
PERSIST_PAUSES_S = (1.0, 2.0, 4.0, 8.0)
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
# Seconds until a hypervisor that did not report the state of a job is asked again.
POLL_AGAIN_S = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Pause:
    """Yielded by work that continues after `seconds`."""

    seconds: float


@dataclasses.dataclass(frozen=True, slots=True)
class PauseForEvent(Pause):
    """Yielded by work that continues when it is woken, at the latest after `seconds`."""


class Interrupted(Exception):
    """Thrown into work when other work takes over its guest. It must leave the guest as it is."""


# A host and a server, for example. Work with the same key is done one piece after the other.
Key: typing.TypeAlias = tuple[str, str]
Wait: typing.TypeAlias = model.Job | Pause
P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# The generator is sent the ended job after a wait for it, and None after a Pause.
Work: typing.TypeAlias = Generator[Wait, typing.Any, T]


# ---- what work yields from --------------------------------------------------


def ended(job: model.Job) -> Work[model.Job]:
    """Wait until a driver's job has ended and return it. Raise DriverError if it failed.

    The error's `reschedule` is true if another node might succeed.
    """
    if job.state is model.JobState.RUNNING:
        job = yield job
    if job.state is model.JobState.FAILED:
        error = exception.DriverError(
            verb=str(job.verb), guest=job.guest, node=job.node, reason=job.failure.message
        )
        error.error_class = job.failure.error_class
        error.reschedule = job.failure.reschedule
        raise error
    return job


def insist(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Work[T]:
    """Repeat a call until it is answered. Return its result or raise its error.

    For calls that must not be lost. The far side must treat repeated calls as one.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return call(*args, **kwargs)
        except exception.Unavailable as error:
            LOG.warning('%s failed. Retrying in %s s: %s', call.__name__, pause_s, error)
        yield Pause(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 2)


def persist(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Work[T]:
    """Repeat a call while its service does not answer. Raise after the last attempt.

    For calls to neighbours that may be repeated.
    """
    return (yield from repeat(lambda: _plain(lambda: call(*args, **kwargs)), call.__name__))


def repeat(work: Callable[[], Work[T]], name: str) -> Work[T]:
    """Repeat work from its start while a service does not answer. Raise after the last attempt.

    name: that of the work, for the log
    """
    for pause_s in PERSIST_PAUSES_S:
        try:
            return (yield from work())
        except exception.Unavailable as error:
            LOG.warning('%s failed. Retrying in %s s: %s', name, pause_s, error)
        yield Pause(pause_s)
    return (yield from work())


def _plain(call: Callable[[], T]) -> Work[T]:
    """Return a call as work that does not wait."""
    yield from ()
    return call()


# ---- the runner -------------------------------------------------------------


class _At(enum.Enum):
    """State of a piece of work."""

    QUEUED = enum.auto()
    RUNNING = enum.auto()
    PARKED = enum.auto()


class _Work:
    __slots__ = ('at', 'context', 'generator', 'interrupted', 'key', 'kind', 'parked', 'woken')

    def __init__(self, key: Key, generator: Work[None], kind: str | None) -> None:
        self.key, self.generator, self.kind = key, generator, kind
        self.at = _At.QUEUED
        self.interrupted = self.woken = False
        self.parked: Wait | None = None
        # The context of the request or periodic task that started the work, for log lines.
        self.context = context.current()


class Jobs:
    """Runs work, one piece at a time for each key, in the order of its arrival.

    driver: the driver of the jobs; threads: maximum number of pieces that run at the same time
    """

    def __init__(self, driver: protocol.Driver, *, threads: int = 8) -> None:
        self._driver = driver
        self._pool = workers.Executor(threads)
        self._lock = runtime.Lock()
        self._quiet = runtime.Condition(self._lock)
        self._queues: dict[Key, collections.deque[_Work]] = {}
        self._alarms: list[tuple[float, int, _Work, Wait]] = []
        self._numbers = itertools.count()
        self._running = 0
        self._wake = runtime.Event()
        self._stopping = False
        self._clock: runtime.Thread | None = None

    # ---- life ----

    def start(self) -> None:
        """Start the thread that wakes parked work."""
        self._clock = runtime.spawn(self._keep_time, name='jobs-clock')

    def stop(self, timeout_s: float) -> bool:
        """Start no more work and wait at most `timeout_s` for running work.

        Parked work is dropped; it continues after the next start. Return whether all work has
        ended.
        """
        with self._lock:
            self._stopping = True
        quiet = self.wait_quiet(timeout_s)
        self._wake.set()
        if self._clock is not None:
            self._clock.join()
        self._pool.shutdown(wait=False, cancel_futures=True)
        return quiet

    def wait_quiet(self, timeout_s: float) -> bool:
        """Wait until no work runs, except parked work. Return False after `timeout_s`."""
        deadline = runtime.monotonic() + timeout_s
        with self._lock:
            while self._running and runtime.monotonic() < deadline:
                self._quiet.wait(deadline - runtime.monotonic())
            return not self._running

    def has(self, key: Key) -> bool:
        """Return whether there is work under this key."""
        return key in self._queues

    def keys(self) -> set[Key]:
        """Return the keys of all work."""
        with self._lock:
            return set(self._queues)

    def run(
        self,
        key: Key,
        generator: Work[None],
        *,
        interrupts: bool = False,
        here: bool = True,
        kind: str | None = None,
    ) -> None:
        """Run work until it waits or ends: in the calling thread, or not `here`.

        If other work of its key runs, the new work waits. With `interrupts`, Interrupted is thrown
        into the other work, so that it ends.
        here: whether the calling thread runs the first part
        kind: names work that is done once however often it is requested. Nothing interrupts
            such work, and it is dropped while work of the same kind waits
        """
        work = _Work(key, generator, kind)
        with self._lock:
            if self._stopping:
                LOG.info('Shutting down; work on %s continues after the next start', key)
                return
            queue = self._queues.setdefault(key, collections.deque())
            if kind is not None and any(other.kind == kind for other in list(queue)[1:]):
                return
            queue.append(work)
            if len(queue) > 1:
                if interrupts:
                    self._interrupt(queue)
                return
            if not here:
                self._submit(work)
                return
            self._begin(work)
        self._advance(work)

    def wake(self, key: Key) -> None:
        """Continue work that has yielded a PauseForEvent, or is about to."""
        with self._lock:
            queue = self._queues.get(key)
            if not queue:
                return
            work = queue[0]
            if work.at is not _At.PARKED:
                work.woken = True
            elif isinstance(work.parked, PauseForEvent):
                self._submit(work)

    def wake_due(self) -> float:
        """Resume work that is due. Return the seconds until the next is due."""
        with self._lock:
            now = runtime.monotonic()
            while self._alarms and self._alarms[0][0] <= now:
                _due, _number, work, parked = heapq.heappop(self._alarms)
                if work.at is _At.PARKED and work.parked is parked:
                    self._submit(work)
            return self._alarms[0][0] - now if self._alarms else IDLE_S

    # ---- within the lock ----

    def _begin(self, work: _Work) -> None:
        work.at = _At.RUNNING
        self._running += 1

    def _submit(self, work: _Work) -> None:
        if not self._stopping:
            self._begin(work)
            self._pool.submit(self._resume, work)

    def _interrupt(self, queue: collections.deque[_Work]) -> None:
        for work in list(queue)[:-1]:
            if work.kind is not None:
                continue
            work.interrupted = True
            if work.at is _At.PARKED:
                self._submit(work)

    def _park(self, work: _Work, wanted: Wait) -> None:
        seconds = wanted.seconds if isinstance(wanted, Pause) else wanted.ready_in
        work.at, work.parked = _At.PARKED, wanted
        due = runtime.monotonic() + seconds
        heapq.heappush(self._alarms, (due, next(self._numbers), work, wanted))
        if self._alarms[0][2] is work:
            self._wake.set()

    def _settle(self) -> None:
        self._running -= 1
        if not self._running:
            self._quiet.notify_all()

    # ---- without the lock ----

    def _keep_time(self) -> None:
        while not self._stopping:
            self._wake.clear()
            runtime.wait(self._wake, self.wake_due())

    def _resume(self, work: _Work) -> None:
        job = work.parked if isinstance(work.parked, model.Job) else None
        value: model.Job | Exception | None = job
        if job is not None and not work.interrupted:
            try:
                value = job = self._driver.poll(job.id)
            except exception.Unavailable as error:
                # The job continues. Its end is noticed when the hypervisor answers again.
                LOG.warning('Cannot look after %s of %s: %s. Retrying.', job.verb, job.guest, error)
                later = dataclasses.replace(job, ready_in=max(job.ready_in, POLL_AGAIN_S))
                if self._wait(work, later):
                    return
            except exception.NovaLiteError as error:
                value = error
            else:
                if job.state is model.JobState.RUNNING and self._wait(work, job):
                    return
        self._advance(work, value)

    def _wait(self, work: _Work, wanted: Wait) -> bool:
        """Park the work, unless it was interrupted."""
        with self._lock:
            if work.interrupted or (work.woken and isinstance(wanted, PauseForEvent)):
                work.woken = False
                return False
            self._park(work, wanted)
            self._settle()
            return True

    def _advance(self, work: _Work, value: model.Job | Exception | None = None) -> None:
        """Run the work until it waits or ends, then start the next work."""
        while True:
            with context.bound(work.context):
                wanted = self._step(work, value)
            if wanted is None:
                break
            if self._wait(work, wanted):
                return
            value = None
        with self._lock:
            self._settle()
            queue = self._queues[work.key]
            queue.popleft()
            if not queue:
                del self._queues[work.key]
            else:
                self._submit(queue[0])

    def _step(self, work: _Work, value: model.Job | Exception | None) -> Wait | None:
        """Run the work up to its next wait. Return the awaited condition, or None at its end."""
        if work.interrupted:
            # The error is thrown in once: the work may wait while it handles the error.
            work.interrupted = False
            value = Interrupted()
        try:
            if isinstance(value, Exception):
                return work.generator.throw(value)
            return work.generator.send(value)
        except StopIteration:
            return None
        except Interrupted:
            LOG.info('Work on %s was interrupted by other work', work.key)
            return None
        except Exception as error:
            # As in RPC dispatch, no error may end a pool thread without a log line. The audit
            # continues the work on the guest.
            away = isinstance(error, exception.Unavailable)
            LOG.error('Work on %s failed: %s', work.key, error, exc_info=not away)
            return None
