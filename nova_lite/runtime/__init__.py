"""Time, threads, randomness and ids: the only module that imports their libraries.

All other modules use this one, so that a test can install another clock (`install`).
Import nothing of nova_lite here: this is the lowest layer.

Locks, queues and futures are those of the standard library, bound when this module is
imported. A simulation that schedules threads replaces `threading`, `_thread`, `queue` and
`time` before it imports nova_lite or a library.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import concurrent.futures
import contextlib
import datetime
import functools
import os
import queue
import random as _random
import re
import secrets
import select
import threading
import time
import typing
import uuid

Thread = threading.Thread
Lock = threading.Lock
RLock = threading.RLock
Semaphore = threading.Semaphore
Local = threading.local
Queue = queue.Queue
SimpleQueue = queue.SimpleQueue
Empty = queue.Empty
Future = concurrent.futures.Future
Executor = concurrent.futures.Executor
# The type of generators of pseudo-random numbers; make them with `seeded_random`.
Random = _random.Random


class Condition(threading.Condition):
    """threading.Condition with timeouts of the installed clock. A wait may end at any time.

    idle: waits with a timeout are for the next run of a periodic task, not for work in progress
    """

    def __init__(self, lock: typing.Any = None, *, idle: bool = False) -> None:
        super().__init__(lock)
        self.idle = idle

    def wait(self, timeout: float | None = None, *, idle: bool = False) -> bool:
        """Wait until notified, at most `timeout` seconds. Return False after the timeout."""
        if timeout is None:
            return super().wait()
        return _current.block(self, timeout, idle or self.idle)

    def wait_for(
        self, predicate: Callable[[], typing.Any], timeout: float | None = None
    ) -> typing.Any:
        """Wait at most `timeout` seconds until `predicate` is true. Return its last result."""
        deadline = None if timeout is None else monotonic() + timeout
        while not (answer := predicate()):
            left = None if deadline is None else deadline - monotonic()
            if left is not None and left <= 0:
                return answer
            if not self.wait(left):
                return predicate()
        return answer

    def wait_really(self, timeout: float | None) -> bool:
        """Wait until notified, at most `timeout` seconds of the system's clock."""
        return super().wait(timeout)


class Event:
    """threading.Event with timeouts of the installed clock."""

    def __init__(self) -> None:
        self._condition = Condition(Lock())
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        with self._condition:
            self._is_set = True
            self._condition.notify_all()

    def clear(self) -> None:
        with self._condition:
            self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait at most `timeout` seconds until the event is set. Return whether it is set."""
        with self._condition:
            return bool(self._condition.wait_for(self.is_set, timeout))


class Leaps:
    """Leaps of the wall clock against the monotonic clock, noticed at each call of `found`."""

    # A smaller difference is the correction of a clock that runs a little fast or slow.
    LEAST_S = 1.0

    def __init__(self) -> None:
        self._offset: float | None = None
        self._at, self._seconds = 0.0, 0.0

    def found(self, wall: float, monotonic: float, within_s: float) -> float:
        """Return seconds by which the wall clock leapt ahead within the last `within_s` seconds."""
        offset = wall - monotonic
        before, self._offset = self._offset, offset
        if before is not None and abs(offset - before) > self.LEAST_S:
            self._at, self._seconds = monotonic, max(0.0, offset - before)
        return self._seconds if monotonic - self._at <= within_s else 0.0


class Runtime:
    """The real time, threads and ids. `install` accepts a subclass, such as a virtual clock."""

    def __init__(self, seed: int | str | None = None) -> None:
        self.rng = Random(seed)
        self._leaps = Leaps()

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC)

    def database_now(self) -> datetime.datetime:
        return self.now()

    def monotonic(self) -> float:
        return time.monotonic()

    def boottime(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def boot_id(self) -> str:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            return file.read().strip()

    def leap_s(self, within_s: float) -> float:
        return self._leaps.found(self.now().timestamp(), self.monotonic(), within_s)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait(self, event: Event, seconds: float | None) -> bool:
        return event.wait(seconds)

    def block(self, condition: Condition, seconds: float, idle: bool) -> bool:
        """Wait for a Condition, at most `seconds`. idle: see Condition"""
        return condition.wait_really(seconds)

    def wait_readable(self, descriptor: int, seconds: float | None) -> bool:
        poll = select.poll()  # which takes any descriptor, unlike select
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(None if seconds is None else max(0, seconds) * 1000))

    def cpu_time(self) -> float:
        return time.thread_time()

    def secret(self, bytes_: int) -> str:
        return secrets.token_urlsafe(bytes_)

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.rng.randbytes(16), version=4))


_current = _real = Runtime()
_real.leap_s(0)
# Daemons fork workers, which would all make the same ids with the parent's state.
os.register_at_fork(after_in_child=lambda: _real.rng.seed())


@contextlib.contextmanager
def install(runtime: Runtime) -> Iterator[Runtime]:
    """Use `runtime` instead of the real Runtime inside the block (tests, virtual clock)."""
    global _current
    before, _current = _current, runtime
    try:
        yield runtime
    finally:
        _current = before


def now() -> datetime.datetime:
    """Return the time of day as an aware datetime in UTC."""
    return _current.now()


def naive_now() -> datetime.datetime:
    """Return the time of day in UTC without a zone, as the databases store it."""
    return _current.now().replace(tzinfo=None)


def timestamp() -> float:
    """Return seconds since 1970 as a float, of the same clock as `now`."""
    return _current.now().timestamp()


def monotonic() -> float:
    """Return seconds of a clock that never goes back; only differences mean anything."""
    return _current.monotonic()


def database_now() -> datetime.datetime:
    """Return the time of SQLite databases, in UTC without a zone.

    It is the same in all processes, also in a simulation whose processes have different clocks.
    """
    return _current.database_now().replace(tzinfo=None)


def boottime() -> float:
    """Return seconds of a clock that never goes back and counts while the machine sleeps."""
    return _current.boottime()


def boot_id() -> str:
    """Return the id of this boot of the machine: `boottime` goes on while it is the same."""
    return _current.boot_id()


def leap_s(within_s: float) -> float:
    """Return seconds by which the wall clock leapt ahead within the last `within_s` seconds.

    It leaps when it is set and when the machine has slept. The first call after a leap notices
    it, so call this function regularly.
    """
    return _current.leap_s(within_s)


def cpu_time() -> float:
    """Return seconds of CPU time of the calling thread; only differences mean anything."""
    return _current.cpu_time()


def sleep(seconds: float) -> None:
    """Block the calling thread for `seconds`."""
    _current.sleep(seconds)


def wait(event: Event, seconds: float | None = None) -> bool:
    """Wait at most `seconds` for `event` (an Event). Return whether it was set."""
    return _current.wait(event, seconds)


def wait_readable(descriptor: int, seconds: float | None = None) -> bool:
    """Wait at most `seconds` for data in a file or pipe. Return whether there is some."""
    return _current.wait_readable(descriptor, seconds)


def wait_all(futures: Iterable[Future[typing.Any]], seconds: float | None = None) -> None:
    """Wait at most `seconds` for all of `futures`. Ask each of them afterwards whether it is done.

    concurrent.futures.wait locks them in the order of their addresses, which a seed of the
    simulation cannot repeat; this function locks them in their order.
    """
    deadline = None if seconds is None else monotonic() + seconds
    for future in futures:
        left = None if deadline is None else max(0.0, deadline - monotonic())
        with contextlib.suppress(TimeoutError, concurrent.futures.CancelledError):
            future.exception(left)


def random() -> Random:
    """Return the shared generator of pseudo-random numbers (a random.Random)."""
    return _current.rng


def seeded_random(seed: int | str) -> Random:
    """Return a new generator whose sequence depends on `seed` alone."""
    return Random(seed)


def new_uuid() -> str:
    """Return a random UUID as a lower-case string with hyphens."""
    return _current.uuid()


def uuid_of(namespace: str, name: str) -> str:
    """Return the UUID (version 5) of a name in a namespace."""
    return str(uuid.uuid5(uuid.UUID(namespace), name))


def new_request_id() -> str:
    """Return an id for one API request, in the form OpenStack services use."""
    return 'req-' + new_uuid()


def new_secret(bytes_: int = 24) -> str:
    """Return a URL-safe string from the system's entropy: tokens and generated passwords.

    It does not begin with "-": commands take such an argument for an option.
    """
    return re.sub('^-', 'x', _current.secret(bytes_))


def spawn(
    target: Callable[..., object],
    *args: typing.Any,
    name: str | None = None,
    daemon: bool = True,
    **kwargs: typing.Any,
) -> threading.Thread:
    """Run `target(*args, **kwargs)` in a new thread and return the thread."""
    thread = threading.Thread(target=target, args=args, kwargs=kwargs, name=name, daemon=daemon)
    thread.start()
    return thread


class Pool(concurrent.futures.ThreadPoolExecutor):
    """A pool of threads. A `with` block that an error ends, such as Ctrl-C, begins no more work."""

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        self.shutdown(cancel_futures=kind is not None)


def executor(max_workers: int) -> Pool:
    """Return a pool of at most `max_workers` threads, with submit, map and shutdown.

    Idle threads sleep until there is work. Those of futurist's pools wake every second, and
    take up to a second to end.
    """
    return Pool(max_workers=max_workers)


def periodics(
    tasks: Iterable[tuple[float, Callable[[], object]]],
    *,
    threads: int,
    failed: Callable[[Callable[[], None], BaseException], object],
) -> typing.Any:
    """Return a worker of periodic tasks. Its `start` returns after `stop` was called.

    tasks: [(seconds, function)]: the first run begins after so many seconds; each further run
        begins so long after the start of the run before, or at its end if that is later
    threads: maximum number of tasks that run at the same time
    failed(run, error): called with a callable that has the function's name, when a run has
        raised an error; the next run begins as usual
    """
    # Only daemons need it, and it takes long to import.
    from futurist import periodics as library

    def repeated(seconds: float, function: Callable[[], object]) -> typing.Any:
        # The library sets attributes of the functions, which it cannot do with methods.
        @library.periodic(seconds)
        @functools.wraps(function)
        def turn() -> None:
            function()

        return turn, (), {}

    def report(turn: Callable[[], None], *how: typing.Any, traceback: object = None) -> None:
        _type, error, _traceback = how[-1]
        failed(turn, error)

    # The library's interface is a class, and this one has to be callable.
    idle_condition: typing.Any = functools.partial(Condition, idle=True)
    event: typing.Any = Event
    return library.PeriodicWorker(
        [repeated(*task) for task in tasks],
        executor_factory=lambda: executor(threads),
        cond_cls=idle_condition,
        event_cls=event,
        now_func=monotonic,
        on_failure=report,
    )


def current_thread() -> threading.Thread:
    """Return the calling thread."""
    return threading.current_thread()


def active_threads() -> int:
    """Return how many threads this process runs (health and benchmarks)."""
    return threading.active_count()
