"""Child processes with pid files and logs. A child that dies is started again.

A child stops cleanly when its supervisor has ended, even if the supervisor was killed
(`daemons.leash`).
"""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import os
import signal
import subprocess
import sys
import typing
import weakref

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import leash
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import layout

LOG = log.getLogger(__name__)

RUNNING, HELD, STARTING = 'running', 'stopped', 'starting'
WATCH_S = 0.2
STOP_S = 40
LEAST_S = 2.0
# The pauses before the restarts of a process that dies sooner than SHORTEST_LIFE_S grow.
SHORTEST_LIFE_S = 5
LONGEST_PAUSE_S = 20

# A function from the module of a daemon, its options and the open log to the started process.
Start: typing.TypeAlias = Callable[[str, Sequence[str], typing.IO[bytes]], subprocess.Popen[bytes]]
# As Start, with the descriptor of the leash.
Launch: typing.TypeAlias = Callable[
    [str, Sequence[str], typing.IO[bytes], int], subprocess.Popen[bytes]
]


def launch(
    module: str, options: Sequence[str], output: typing.IO[bytes], end: int
) -> subprocess.Popen[bytes]:
    """Start an interpreter that runs the module of a daemon. Return its process.

    options: arguments of the command line; output: the open log; end: descriptor of the leash
    """
    return spawn([sys.executable, '-m', module, *options], output, end)


def spawn(
    command: Sequence[str],
    output: typing.IO[bytes],
    end: int,
    *,
    variables: Mapping[str, str] = os.environ,
    files: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a command that leads a group of processes. Return its process.

    output, end: see `launch`; files: further descriptors that the command inherits
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        pass_fds=(end, *files),
        env={**variables, leash.LEASH: str(end)},
    )


class Unknown(exception.NotFound):
    msg = 'There is no daemon %(name)s.%(proposed)s Use one of: %(known)s'


class NotRunning(exception.Conflict):
    msg = 'Daemon %(name)s does not run. Start it with `nova-lite daemon start %(name)s`'


class Group:
    """A started process and the processes of its group.

    A process that has ended keeps its id until `end` waits for it. No signal is sent after that:
    the system may have given the id to another process.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        # Its methods `poll` and `send_signal` would wait for a process that has ended.
        self._process = process
        self._descriptor = os.pidfd_open(process.pid)
        weakref.finalize(self, os.close, self._descriptor)

    def has_ended(self, seconds: float | None = 0) -> bool:
        """Wait at most `seconds` for the end of the process. Return whether it has ended.

        seconds: None to wait without a limit
        """
        return runtime.wait_readable(self._descriptor, seconds)

    def signal(self, number: int) -> None:
        """Send a signal to the process alone, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """Kill all processes of the group. Never call it after `end`."""
        # A process that has just been forked leads no group yet.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.signal(signal.SIGKILL)

    def end(self) -> int:
        """Kill the group once, with workers that would keep a port. Return the exit code."""
        self.kill()
        return self._process.wait()


class Child:
    """The process of one daemon.

    name: KIND.NAME, as in the pid file
    stage: children with the highest stage stop first; children with 0 do not wait for clients
    process: the last started process; starts: number of starts
    held: whether it is stopped, and not started again until `Supervisor.release`
    """

    process: subprocess.Popen[bytes]

    def __init__(
        self, name: str, module: str, *configs: str, places: layout.Layout, stage: int
    ) -> None:
        self.name, self.module, self.configs, self.stage = name, module, configs, stage
        # gunicorn waits for its clients after SIGTERM, but not after SIGINT.
        self._stop_signal = signal.SIGTERM if stage else signal.SIGINT
        self.pid_path = places.path('run', f'{name}.pid')
        self.log_path = places.path('log', f'{name}.log')
        self.starts = 0
        self.held = False
        # It is held by whoever starts, ends or signals the process.
        self._lock = runtime.Lock()
        # None once the process has been waited for.
        self._group: Group | None = None
        self._started = 0.0
        self._pause_s = 0.0
        self._not_before = 0.0

    @property
    def state(self) -> str:
        """Return whether the process runs, is held, or has ended and is started again soon."""
        if self.held:
            return HELD
        group = self._group
        return STARTING if group is None or group.has_ended() else RUNNING

    def start(self, start: Start) -> None:
        """Start the process, and write its pid file."""
        with self._lock:
            self._start(start)

    def _start(self, start: Start) -> None:
        with open(self.log_path, 'ab') as output:
            self.process = start(self.module, self._options(), output)
        self._group = Group(self.process)
        self.starts += 1
        self._started = runtime.monotonic()
        with open(f'{self.pid_path}.new', 'w') as file:
            file.write(f'{self.process.pid}\n')
        os.replace(f'{self.pid_path}.new', self.pid_path)

    def _options(self) -> list[str]:
        return [part for path in self.configs for part in ('--config-file', path)]

    def watch(self, start: Start) -> None:
        """Start the process again if it has died, after a pause if it has died soon.

        A child that another thread stops or starts is left alone: a stop may take long.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            if not self.held:
                self._watch(start)
        finally:
            self._lock.release()

    def _watch(self, start: Start) -> None:
        now = runtime.monotonic()
        if self._group is not None:
            if not self._group.has_ended():
                return
            group, self._group = self._group, None
            LOG.warning('Daemon %s ended with status %s', self.name, group.end())
            short = now - self._started < SHORTEST_LIFE_S
            self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2 + 1) if short else 0.0
            self._not_before = now + self._pause_s
        if now >= self._not_before:
            self._start(start)

    def reload(self) -> None:
        """Make the process read its configuration again."""
        group = self._group
        if group is not None:
            group.signal(signal.SIGHUP)

    def kill(self) -> None:
        """Kill the process, which is then started again. Raise NotRunning."""
        with self._lock:
            if self.held or self._group is None:
                raise NotRunning(name=self.name)
            self._group.kill()

    def release(self, start: Start) -> None:
        """Start the process again if it is held. This waits for the end of its stop."""
        with self._lock:
            if self.held:
                self._start(start)
                self.held = False

    def stop(self, seconds: float) -> None:
        """Stop the process; kill it if it has not ended after `seconds`. It is held then."""
        with self._lock:
            self.held = True
            self._stop(seconds)

    def _stop(self, seconds: float) -> None:
        group, self._group = self._group, None
        if group is not None:
            group.signal(self._stop_signal)
            if not group.has_ended(seconds):
                LOG.warning(
                    'Daemon %s did not stop within %s s. Killing it.', self.name, round(seconds)
                )
            group.end()
        if os.path.exists(self.pid_path):
            os.unlink(self.pid_path)


class Supervisor:
    """Starts children, keeps them running, and stops them stage by stage."""

    def __init__(self, launch: Launch = launch) -> None:
        self._launch = launch
        self.children: list[Child] = []
        self._stop = runtime.Event()
        self._thread: runtime.Thread | None = None
        self._ends: tuple[int, ...] = os.pipe()

    def add(self, child: Child) -> Child:
        """Start a child, and keep it running."""
        child.start(self._start)
        self.children.append(child)
        if self._thread is None:
            self._thread = runtime.spawn(self._watch, name='supervisor')
        return child

    def _start(
        self, module: str, options: Sequence[str], output: typing.IO[bytes]
    ) -> subprocess.Popen[bytes]:
        return self._launch(module, options, output, self._ends[0])

    def kill(self, name: str) -> None:
        """Kill a child, which is then started again. Raise Unknown, NotRunning."""
        self._find(name).kill()

    def hold(self, name: str) -> None:
        """Stop a child, and do not start it again. Raise Unknown."""
        self._find(name).stop(STOP_S)

    def release(self, name: str) -> None:
        """Start a child that is held. Raise Unknown."""
        self._find(name).release(self._start)

    def _find(self, name: str) -> Child:
        known = {child.name: child for child in self.children}
        if name not in known:
            proposed = arguments.like(name, known)
            raise Unknown(name=name, proposed=proposed, known=', '.join(known))
        return known[name]

    def _watch(self) -> None:
        while not runtime.wait(self._stop, WATCH_S):
            for child in tuple(self.children):
                child.watch(self._start)

    def stop(self) -> None:
        """Stop all children, stage by stage, in at most about STOP_S seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        deadline = runtime.monotonic() + STOP_S
        for stage in sorted({child.stage for child in self.children}, reverse=True):
            left = max(LEAST_S, deadline - runtime.monotonic())
            stopping = [
                runtime.spawn(child.stop, left) for child in self.children if child.stage == stage
            ]
            for thread in stopping:
                thread.join()
        self.children.clear()
        ends, self._ends = self._ends, ()
        for end in ends:
            os.close(end)
