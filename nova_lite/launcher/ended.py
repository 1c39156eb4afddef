"""Incarnations that have ended: their daemons are stopped while the next ones already work.

They do no harm (`nova_lite.incarnation`), and their threads end when they next want something.
"""

import collections
import contextlib
import functools

from nova_lite import runtime

# A cloud that is reset faster than daemons stop waits for the oldest of so many.
MOST = 6


class Ended:
    """Stops what has ended, each incarnation in a thread of its own."""

    def __init__(self):
        self._threads = collections.deque()

    def add(self, stops):
        """Call functions in a thread. stops: lists of those that are called together"""
        self._threads.append(runtime.spawn(_run, stops, name='ended'))
        while self._threads and not self._threads[0].is_alive():
            self._threads.popleft()
        if len(self._threads) > MOST:
            self._threads.popleft().join()

    def wait(self):
        """Wait until all have stopped."""
        while self._threads:
            self._threads.popleft().join()


def _run(stops):
    # All are called, also after an error, which ends the thread.
    with contextlib.ExitStack() as stack:
        for group in reversed(stops):
            stack.callback(functools.partial(together, group))


def together(calls):
    """Make calls at the same time, each in a thread, and wait until all have ended."""
    for thread in [runtime.spawn(call) for call in calls]:
        thread.join()
