"""One simulated thread."""

import os
import sys
import threading
import traceback

KERNEL = os.path.dirname(__file__)


class Thread:
    """A greenlet and what the kernel knows of it."""

    __slots__ = (
        'deadlines',
        'done',
        'greenlet',
        'home',
        'index',
        'joiners',
        'locals',
        'name',
        'number',
        'priority',
        'process',
        'waits_for',
        'woken',
    )

    def __init__(self, number, name, process):
        self.number = number
        self.name = name
        # Where it belongs, and whose clocks it reads and children it makes (`entered`).
        self.home = self.process = process
        self.greenlet = None
        # Its place in the kernel's list of ready threads; -1 while it is not ready.
        self.index = -1
        # Counts its waits, so that the deadline of an earlier one is recognised.
        self.deadlines = 0
        self.woken = False
        self.waits_for = None
        self.done = False
        self.joiners = []
        # Where `threading.local` objects keep its values.
        self.locals = []
        self.priority = 0.0

    def stopped(self):
        """Return whether it never runs again."""
        return self.done or self.home.dead

    def state(self):
        """Return in a word or two why it does not run."""
        if self.done:
            return 'ended'
        if self.home.dead:
            return 'killed'
        if self.home.frozen:
            return 'frozen'
        return 'ready' if self.index >= 0 else 'waits for %s' % self.waits_for

    def stack(self):
        """Return its stack as text, without the kernel's own frames."""
        frame = self.greenlet.gr_frame
        if frame is None and not self.stopped():
            frame = sys._getframe()
        found = [entry for entry in traceback.extract_stack(frame) if not _is_machinery(entry)]
        return ''.join(traceback.format_list(found))


def _is_machinery(entry):
    path = entry.filename
    return path.startswith(KERNEL) or path == threading.__file__


def report(threads):
    """Return all threads that have not stopped, with what they wait for, as text."""
    parts = []
    for thread in threads:
        if not thread.stopped():
            head = '%s %s: %s\n' % (thread.home.name, thread.name, thread.state())
            parts.append(head + thread.stack())
    return '\n'.join(parts)
