"""Child processes with pid files and logs. A child that dies is started again.

A child stops cleanly when its supervisor has ended, even if the supervisor was killed
(`daemons.leash`).
"""

from collections.abc import Callable
from collections.abc import Sequence
import os
import signal
import subprocess
import sys
import typing

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
    return subprocess.Popen(
        [sys.executable, '-m', module, *options],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        pass_fds=(end,),
        env={**os.environ, leash.LEASH: str(end)},
    )


class Unknown(exception.NotFound):
    msg = 'There is no daemon %(name)s.%(proposed)s Use one of: %(known)s'


class NotRunning(exception.Conflict):
    msg = 'Daemon %(name)s does not run. Start it with `nova-lite daemon start %(name)s`'


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
        self._started = 0.0
        self._pause_s = 0.0
        self._not_before: float | None = None

    @property
    def state(self) -> str:
        """Return whether the process runs, is held, or has ended and is started again soon."""
        if self.held:
            return HELD
        return RUNNING if self.process.poll() is None else STARTING

    def start(self, start: Start) -> None:
        """Start the process, and write its pid file."""
        with open(self.log_path, 'ab') as output:
            self.process = start(self.module, self._options(), output)
        self.starts += 1
        self._started = runtime.monotonic()
        with open(f'{self.pid_path}.new', 'w') as file:
            file.write(f'{self.process.pid}\n')
        os.replace(f'{self.pid_path}.new', self.pid_path)

    def _options(self) -> list[str]:
        return [part for path in self.configs for part in ('--config-file', path)]

    def watch(self, start: Start) -> None:
        """Start the process again if it has died, after a pause if it has died soon."""
        if self.held or self.process.poll() is None:
            return
        now = runtime.monotonic()
        if self._not_before is None:
            LOG.warning('Daemon %s ended with status %s', self.name, self.process.returncode)
            self._end_workers()
            short = now - self._started < SHORTEST_LIFE_S
            self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2 + 1) if short else 0.0
            self._not_before = now + self._pause_s
        if now >= self._not_before:
            self._not_before = None
            self.start(start)

    def _end_workers(self) -> None:
        """Kill workers that the process has left behind, which would keep its port."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def reload(self) -> None:
        """Make the process read its configuration again."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)

    def stop(self, seconds: float) -> None:
        """Stop the process; kill it if it has not ended after `seconds`."""
        if self.process.poll() is None:
            self.process.send_signal(self._stop_signal)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            LOG.warning(
                'Daemon %s did not stop within %s s. Killing it.', self.name, round(seconds)
            )
            self.process.kill()
            self.process.wait()
        self._end_workers()
        if os.path.exists(self.pid_path):
            os.unlink(self.pid_path)


class Supervisor:
    """Starts children, keeps them running, and stops them stage by stage."""

    def __init__(self, launch: Launch = launch) -> None:
        self._launch = launch
        self.children: list[Child] = []
        self._stop = runtime.Event()
        self._thread: runtime.Thread | None = None
        self._lock = runtime.Lock()
        self._ends: tuple[int, ...] = os.pipe()

    def add(self, child: Child) -> Child:
        """Start a child, and keep it running."""
        with self._lock:
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
        child = self._find(name)
        if child.held:
            raise NotRunning(name=name)
        try:
            os.killpg(child.process.pid, signal.SIGKILL)
        except ProcessLookupError as error:
            raise NotRunning(name=name) from error

    def hold(self, name: str) -> None:
        """Stop a child, and do not start it again. Raise Unknown."""
        child = self._find(name)
        with self._lock:
            child.held = True
        child.stop(STOP_S)

    def release(self, name: str) -> None:
        """Start a child that is held. Raise Unknown."""
        child = self._find(name)
        with self._lock:
            if child.held:
                child.held = False
                child.start(self._start)

    def _find(self, name: str) -> Child:
        known = {child.name: child for child in self.children}
        if name not in known:
            proposed = arguments.like(name, known)
            raise Unknown(name=name, proposed=proposed, known=', '.join(known))
        return known[name]

    def _watch(self) -> None:
        while not runtime.wait(self._stop, WATCH_S):
            with self._lock:
                for child in self.children:
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
