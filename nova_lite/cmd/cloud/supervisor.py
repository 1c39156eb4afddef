"""Child processes with pid files and logs; one that dies is started again."""

import os
import signal
import subprocess
import sys

from oslo_log import log

from nova_lite import runtime

LOG = log.getLogger(__name__)

WATCH_S = 0.2
STOP_S = 30
# A process that dies at once is started again more and more slowly.
SHORTEST_LIFE_S = 5
LONGEST_PAUSE_S = 20


class Child:
    """One daemon's process. name: KIND.NAME, as in its pid file."""

    def __init__(self, name, module, config, places):
        self.name, self.module, self.config = name, module, config
        self.pid_path = places.path('run', f'{name}.pid')
        self.log_path = places.path('log', f'{name}.log')
        self.process = None
        self._started = 0.0
        self._pause_s = 0.0
        self._not_before = 0.0

    def start(self):
        """Start the process and write its pid file."""
        with open(self.log_path, 'ab') as output:
            self.process = subprocess.Popen(
                [sys.executable, '-m', self.module, '--config-file', self.config],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._started = runtime.monotonic()
        with open(f'{self.pid_path}.new', 'w') as file:
            file.write(f'{self.process.pid}\n')
        os.replace(f'{self.pid_path}.new', self.pid_path)

    def watch(self):
        """Start it again when it died, though not too often."""
        if self.process.poll() is None:
            return
        now = runtime.monotonic()
        if not self._not_before:
            short = now - self._started < SHORTEST_LIFE_S
            self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2 + 1) if short else 0.0
            self._not_before = now + self._pause_s
            LOG.warning('%s ended with status %s', self.name, self.process.returncode)
        if now >= self._not_before:
            self._not_before = 0.0
            self.start()

    def signal(self, number):
        """Send a signal to the process if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, seconds):
        """Wait for its end; kill it when it takes longer than `seconds`."""
        if self.process is None:
            return
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            LOG.warning('%s did not stop in %s s and is killed', self.name, seconds)
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.pid_path):
            os.unlink(self.pid_path)


class Supervisor:
    """Starts children, keeps them running, stops them in the opposite order."""

    def __init__(self):
        self.children = []
        self._stop = runtime.Event()
        self._thread = None
        self._lock = runtime.Lock()

    def add(self, child):
        """Start a child and keep it running."""
        child.start()
        with self._lock:
            self.children.append(child)
        if self._thread is None:
            self._thread = runtime.spawn(self._watch, name='supervisor')
        return child

    def _watch(self):
        while not runtime.wait(self._stop, WATCH_S):
            with self._lock:
                for child in self.children:
                    child.watch()

    def stop(self):
        """Stop all children, those that others depend on last."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        deadline = runtime.monotonic() + STOP_S
        for child in reversed(self.children):
            child.signal(signal.SIGTERM)
            child.wait(max(1.0, deadline - runtime.monotonic()))
