"""Daemon: RPC servers, periodics and a manager, started and stopped in order.

The same object lives in a process of its own (`run`) or, in the embedded mode,
beside others in one. systemd is told when it is ready and that it is alive.
"""

import functools
import os
import signal
import socket

from futurist import periodics
from oslo_log import log

from nova_lite import exception
from nova_lite import runtime

LOG = log.getLogger(__name__)

WATCH_S = 5


class Daemon:
    """One daemon. manager: may have start(), stop(), periodics() -> [(seconds, method)].

    servers: oslo.messaging servers that answer with the manager
    closing: called last, newest first: connections to give back
    reloading: called to read again what configuration names, such as files
    """

    def __init__(self, name, manager, *, servers=(), threads=16, closing=(), reloading=()):
        self.name, self.manager = name, manager
        self._servers, self._threads = list(servers), threads
        self._closing = list(closing)
        self._reloading = list(reloading)
        self._periodics = None
        self._worker = None

    def start(self):
        """Start the manager, then answer calls, then do what is due again and again."""
        self._tell('start')
        for server in self._servers:
            server.start(override_pool_size=self._threads)
        tasks = [_periodic(*task) for task in (self._tell('periodics') or ())]
        if tasks:
            self._periodics = periodics.PeriodicWorker(
                [(task, (), {}) for task in tasks],
                executor_factory=lambda: runtime.executor(4),
                on_failure=_log_failure,
            )
            self._worker = runtime.spawn(self._periodics.start, name=f'{self.name}-periodics')
        LOG.info('%s is ready', self.name)

    def _tell(self, verb):
        """Call the manager's start, stop or periodics, if it has one."""
        method = getattr(self.manager, verb, None)
        return method() if method is not None else None

    def reload(self):
        """Read again what can be; what is refused leaves the former in force."""
        for read in self._reloading:
            try:
                read()
            except (exception.NovaLiteError, OSError) as error:
                LOG.error('%s goes on as before: %s', self.name, error)

    def stop(self):
        """Take no new calls, finish those begun, stop the manager, close connections."""
        if self._periodics is not None:
            self._periodics.stop()
            self._worker.join()
        for server in self._servers:
            server.stop()
        for server in self._servers:
            server.wait()
        self._tell('stop')
        for close in reversed(self._closing):
            close()
        LOG.info('%s has stopped', self.name)


def _periodic(seconds, method):
    @periodics.periodic(spacing=seconds)
    @functools.wraps(method)
    def task():
        method()

    return task


def _log_failure(task, *how, traceback=None):
    """A periodic that failed is tried again at its next turn."""
    LOG.error('Periodic %s failed', task.__qualname__, exc_info=how[-1])


def run(daemon, reload=None):
    """Run `daemon` in this process until SIGTERM or SIGINT. SIGHUP calls `reload`."""
    stop, hup = runtime.Event(), runtime.Event()
    signal.signal(signal.SIGTERM, lambda *_args: stop.set())
    signal.signal(signal.SIGINT, lambda *_args: stop.set())
    signal.signal(signal.SIGHUP, lambda *_args: hup.set())
    daemon.start()
    tell_systemd('READY=1')
    while not runtime.wait(stop, WATCH_S):
        tell_systemd('WATCHDOG=1')
        if hup.is_set():
            hup.clear()
            if reload is not None:
                reload()
    tell_systemd('STOPPING=1')
    daemon.stop()


def tell_systemd(state):
    """Send a line such as READY=1 to the service manager that started us, if one did."""
    address = os.environ.get('NOTIFY_SOCKET')
    if not address:
        return
    if address.startswith('@'):
        address = '\0' + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        try:
            notify.sendto(state.encode(), address)
        except OSError as error:
            LOG.warning('The service manager could not be told %s: %s', state, error)
