"""Incarnations that have ended: their daemons are stopped while the next ones already work.

They do no harm (`nova_lite.incarnation`), and their threads end when they next want something.
What is left of them in memory are cycles, for which the interpreter looks rarely; a cloud that is
reset a thousand times would grow by them. The C library keeps what they held, in small pieces,
until it is asked to give it back.
"""

import collections
import contextlib
import functools
import gc

from nova_lite import runtime
from nova_lite.lab.launcher import malloc

# A cloud that is reset faster than daemons stop waits for the oldest of so many.
MOST = 6
# An incarnation leaves less than 1 MB. To look for it takes about 0.1 s of processor time.
COLLECT_EVERY = 10


class Ended:
    """Stops what has ended, each incarnation in a thread of its own."""

    def __init__(self):
        self._threads = collections.deque()
        self._count = 0

    def add(self, stops):
        """Call functions in a thread. stops: lists of those that are called together"""
        self._count += 1
        last = _free if self._count % COLLECT_EVERY == 0 else None
        self._threads.append(runtime.spawn(_run, stops, last, name='ended'))
        while self._threads and not self._threads[0].is_alive():
            self._threads.popleft()
        if len(self._threads) > MOST:
            self._threads.popleft().join()

    def wait(self):
        """Wait until all have stopped."""
        while self._threads:
            self._threads.popleft().join()


def _run(stops, last):
    # All are called, also after an error, which ends the thread.
    with contextlib.ExitStack() as stack:
        if last is not None:
            stack.callback(last)
        for group in reversed(stops):
            stack.callback(functools.partial(together, group))


def _free():
    """Free what has ended, and give its memory back to the system where the C library can."""
    gc.collect()
    malloc.trim()


def together(calls):
    """Make calls at the same time, each in a thread, and wait until all have ended."""
    for thread in [runtime.spawn(call) for call in calls]:
        thread.join()
