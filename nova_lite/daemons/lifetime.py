"""Daemon: starts and stops RPC servers, periodic tasks and a manager in order.

The object runs in its own process (`run`) or, in the embedded mode, together with others in
one. It notifies systemd when it is ready, and sends the watchdog's keep-alive.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import os
import signal
import sys
import types as python_types
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons.wsgi import systemd

Call: typing.TypeAlias = Callable[[], object]

LOG = log.getLogger(__name__)

WATCH_S = 5
STOP_LIMIT_S = 40
# Seconds until a daemon tries its database or bus again.
WAIT_S = 1
# Seconds between attempts at a heartbeat while the database or bus does not answer.
HEARTBEAT_RETRY_S = 2
PERIODIC_THREADS = 4

M = typing.TypeVar('M', covariant=True)


class Daemon(typing.Generic[M]):
    """One daemon.

    manager: may have the methods start(); started(), called when the servers answer;
        stopping() and stop(); periodics() and heartbeats(), which return [(seconds, method)].
        Long-running work must poll what `stopping` sets, since it is called before `stop`.
            A heartbeat that fails is repeated without waiting for its next run
    servers: oslo.messaging servers that answer with the manager
    closing: functions that close connections; called last, the newest first
    reloading: functions that read files named by the configuration again
    checks, collectors, exporters: see `watch`
    """

    def __init__(
        self,
        name: str,
        manager: M,
        *,
        servers: Iterable[typing.Any] = (),
        threads: int = 16,
        closing: Iterable[Call] = (),
        reloading: Iterable[Call] = (),
    ) -> None:
        self.name, self.manager = name, manager
        self._servers, self._threads = list(servers), threads
        self._closing = list(closing)
        self._reloading = list(reloading)
        self.checks: dict[str, Call] = {'work': self._check_work}
        self.collectors: list[typing.Any] = []
        self.exporters: dict[str, typing.Any] = {}
        self._ready = False
        self._stopping = runtime.Event()
        self._periodics: typing.Any = None  # as runtime.periodics returns it
        self._worker: runtime.Thread | None = None

    def watch(
        self,
        checks: Mapping[str, Call],
        collectors: Iterable[typing.Any] = (),
        exporters: Mapping[str, typing.Any] | None = None,
    ) -> typing.Self:
        """Set the health checks of the daemon. Return the daemon.

        checks: {name of a need: function that raises while the need is not met}
        collectors: prometheus_client collectors, whose metrics are read at each scrape
        exporters: {host: its exporters.Exporters}
        """
        self.checks |= checks
        self.collectors += collectors
        self.exporters |= exporters or {}
        return self

    def start(self) -> None:
        """Start the manager, then the servers, then the periodic tasks.

        Wait for the needs of the daemon, such as its database, and log those that are not met.
        """
        while True:
            try:
                self._tell('start')
                break
            except exception.Unavailable as error:
                LOG.warning('%s is waiting: %s', self.name, error)
                systemd.tell(f'STATUS=Waits: {error}')
                runtime.sleep(WAIT_S)
        for server in self._servers:
            server.start(override_pool_size=self._threads)
        self._tell('started')
        tasks = list(self._tell('periodics') or ())
        for seconds, method in self._tell('heartbeats') or ():
            tasks.append((seconds, _persistent(method, self._stopping)))
        if tasks:
            self._periodics = runtime.periodics(
                [(seconds, _periodic(method)) for seconds, method in tasks],
                threads=PERIODIC_THREADS,
                failed=_log_failure,
            )
            self._worker = runtime.spawn(self._periodics.start, name=f'{self.name}-periodics')
        self._ready = True
        LOG.info('%s is ready', self.name)

    def _tell(self, verb: str) -> typing.Any:
        """Call the manager's method of this name, if it has one."""
        method = getattr(self.manager, verb, None)
        return method() if method is not None else None

    @property
    def alive(self) -> bool:
        """Return whether the periodic tasks still run."""
        return self._worker is None or self._worker.is_alive()

    def _check_work(self) -> None:
        if not self._ready:
            raise exception.Unavailable(service=self.name, reason='it is starting')
        if not self.alive:
            raise exception.Unavailable(
                service=self.name,
                reason='its thread of periodic tasks has ended. Restart the daemon',
            )

    def reload(self) -> list[Exception]:
        """Apply the new configuration. Rejected parts stay as they were. Return the errors."""
        errors: list[Exception] = []
        for read in self._reloading:
            try:
                read()
            except (exception.NovaLiteError, OSError, ValueError) as error:
                LOG.error('%s cannot apply part of the new configuration: %s', self.name, error)
                errors.append(error)
        return errors

    def stop(self) -> None:
        """Refuse new calls, finish the calls in progress, stop the manager, close connections."""
        self._stopping.set()
        self._tell('stopping')
        if self._periodics is not None:
            self._periodics.stop()
            if self._worker is not None:
                self._worker.join()
        for server in self._servers:
            server.stop()
        for server in self._servers:
            server.wait()
        self._tell('stop')
        for close in reversed(self._closing):
            close()
        LOG.info('%s has stopped', self.name)


def _periodic(method: Call) -> Callable[[], None]:
    @functools.wraps(method)
    def task() -> None:
        with context.admin().bound():
            method()

    return task


def _persistent(method: Call, stopping: runtime.Event) -> Callable[[], None]:
    """Return a function that repeats `method` until it succeeds or `stopping` is set.

    A host counts as down after a few missed heartbeats. An attempt that fails after a long time
    would cost several heartbeats if the next attempt waited for the next run.
    """

    @functools.wraps(method)
    def attempt() -> None:
        while not stopping.is_set():
            try:
                method()
                return
            except exception.Unavailable as error:
                LOG.warning(
                    'Heartbeat %s failed: %s. Retrying in %s s.',
                    method.__qualname__,
                    error,
                    HEARTBEAT_RETRY_S,
                )
            runtime.wait(stopping, HEARTBEAT_RETRY_S)

    return attempt


def _log_failure(task: Callable[[], None], error: BaseException) -> None:
    """Log why a periodic task failed. It runs again as usual."""
    if isinstance(error, exception.Unavailable):
        LOG.warning(
            'Periodic task %s failed: %s. Retrying at its next run.', task.__qualname__, error
        )
        return
    LOG.error('Unexpected error in periodic task %s', task.__qualname__, exc_info=error)


# Until the main thread has left a finalizer.
AGAIN_S = 0.05


class Stopped(BaseException):
    """A signal requested the end while the daemon was still starting."""


class Signals:
    """SIGTERM, SIGINT and SIGHUP of this process, waited for by its main thread.

    `starting`: a signal that requests the end raises Stopped in the main thread. In a finalizer
        the interpreter drops the exception, so that it is raised again afterwards
    """

    def __init__(self) -> None:
        self.starting = True
        self._asked: set[int] = set()
        # An Event set by a handler could hang: the thread it interrupts may hold its lock.
        self._wakeup, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note)
        self._report, sys.unraisablehook = sys.unraisablehook, self._dropped

    def _dropped(self, unraisable: 'sys.UnraisableHookArgs') -> None:
        if unraisable.exc_type is Stopped:
            runtime.spawn(self._raise_again, name='signals')
        else:
            self._report(unraisable)

    def _raise_again(self) -> None:
        runtime.sleep(AGAIN_S)
        if self.starting:
            os.kill(os.getpid(), signal.SIGTERM)

    def _note(self, number: int, _frame: python_types.FrameType | None) -> None:
        self._asked.add(number)
        if self.starting and number != signal.SIGHUP:
            raise Stopped()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` for the next signal. Return whether it requests the end."""
        if runtime.wait_readable(self._wakeup, seconds):
            os.read(self._wakeup, 512)
        return bool(self._asked - {signal.SIGHUP})

    def reload(self) -> bool:
        """Return whether SIGHUP was received since the last call."""
        found = signal.SIGHUP in self._asked
        self._asked.discard(signal.SIGHUP)
        return found


def run(
    daemon: Daemon[object], reload: Call | None = None, *, stop_limit_s: float = STOP_LIMIT_S
) -> None:
    """Run `daemon` in this process until SIGTERM or SIGINT. SIGHUP calls `reload`.

    stop_limit_s: the process exits so many seconds after the signal, whatever still runs
    """
    signals = Signals()
    try:
        daemon.start()
        signals.starting = False
    except Stopped:
        LOG.info('%s was stopped before it was ready', daemon.name)
        return
    systemd.tell('READY=1', 'STATUS=Ready')
    watch_s = _watch_s()
    while not signals.wait(watch_s):
        if daemon.alive:
            systemd.tell('WATCHDOG=1')
        if signals.reload() and reload is not None:
            systemd.tell('RELOADING=1', f'MONOTONIC_USEC={int(runtime.monotonic() * 1e6)}')
            reload()
            systemd.tell('READY=1')
    systemd.tell('STOPPING=1', 'STATUS=Finishing work in progress')
    stopped = runtime.Event()
    runtime.spawn(_end_in_time, daemon, stopped, stop_limit_s, name='stop')
    daemon.stop()
    stopped.set()


def _end_in_time(daemon: Daemon[object], stopped: runtime.Event, seconds: float) -> None:
    """Exit the process if the daemon does not stop, for example while it replies to a dead broker.

    Nothing is lost: the next process continues all work, as after a kill.
    """
    if not runtime.wait(stopped, seconds):
        LOG.error('%s did not stop within %s s. Exiting.', daemon.name, seconds)
        os._exit(1)


def _watch_s() -> float:
    """Return the interval of the watchdog: half of the time that the service manager allows."""
    allowed = os.environ.get('WATCHDOG_USEC')
    return min(WATCH_S, int(allowed) / 2e6) if allowed else WATCH_S
