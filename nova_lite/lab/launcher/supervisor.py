"""Child processes with pid files and logs; one that dies is started again.

A child ends in good order when its supervisor is gone, however that came about
(`daemons.leash`).
"""

import os
import signal
import subprocess
import sys

from oslo_log import log

from nova_lite import runtime
from nova_lite.daemons import leash

LOG = log.getLogger(__name__)

WATCH_S = 0.2
STOP_S = 40
LEAST_S = 2.0
# A process that dies at once is started again more and more slowly.
SHORTEST_LIFE_S = 5
LONGEST_PAUSE_S = 20


def launch(module, options, output, end):
    """Start an interpreter that runs a daemon's module; return its Popen.

    options: of the command line; output: the open log; end: of the leash, a descriptor
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


class Child:
    """One daemon's process.

    name: KIND.NAME, as in its pid file; stage: children of the highest stop first,
    those of 0 without waiting for clients
    starts: how often it was started
    """

    def __init__(self, name, module, *configs, places, stage):
        self.name, self.module, self.configs, self.stage = name, module, configs, stage
        # gunicorn keeps connections for a while after SIGTERM, and after SIGINT not.
        self._stop_signal = signal.SIGTERM if stage else signal.SIGINT
        self.pid_path = places.path('run', f'{name}.pid')
        self.log_path = places.path('log', f'{name}.log')
        self.process = None
        self.starts = 0
        self._started = 0.0
        self._pause_s = 0.0
        self._not_before = None

    def start(self, start):
        """Start the process and write its pid file. start: makes a process, as `launch` does"""
        with open(self.log_path, 'ab') as output:
            self.process = start(self.module, self._options(), output)
        self.starts += 1
        self._started = runtime.monotonic()
        with open(f'{self.pid_path}.new', 'w') as file:
            file.write(f'{self.process.pid}\n')
        os.replace(f'{self.pid_path}.new', self.pid_path)

    def _options(self):
        return [part for path in self.configs for part in ('--config-file', path)]

    def watch(self, start):
        """Start the process again when it died, though not too often. start: as of `start`"""
        if self.process.poll() is None:
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

    def _end_workers(self):
        """Workers that the process has left behind hold its port."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def reload(self):
        """Make the process read its configuration again."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)

    def stop(self, seconds):
        """Ask the process to end; kill it when that takes longer than `seconds`."""
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
    """Starts children, keeps them running, stops them stage by stage.

    launch: starts a process, as the function of that name
    """

    def __init__(self, launch=launch):
        self._launch = launch
        self.children = []
        self._stop = runtime.Event()
        self._thread = None
        self._lock = runtime.Lock()
        self._ends = os.pipe()

    def add(self, child):
        """Start a child and keep it running."""
        with self._lock:
            child.start(self._start)
            self.children.append(child)
        if self._thread is None:
            self._thread = runtime.spawn(self._watch, name='supervisor')
        return child

    def _start(self, module, options, output):
        return self._launch(module, options, output, self._ends[0])

    def _watch(self):
        while not runtime.wait(self._stop, WATCH_S):
            with self._lock:
                for child in self.children:
                    child.watch(self._start)

    def stop(self):
        """Stop all children, those that others depend on last."""
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
