"""Incarnations that have ended: their daemons stop while those of the next one already work.

The daemons of an ended incarnation have no more effects (`nova_lite.incarnation`), and their
threads end with their next effect. Their objects in memory are cycles, which the interpreter
collects rarely, so a cloud that is reset a thousand times would grow. The C library keeps the
memory of these objects in small pieces until `malloc.trim`.
"""

import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import contextlib
import functools
import gc
import typing

from nova_lite import runtime
from nova_lite.lab.launcher import malloc

# With more incarnations whose daemons have not stopped, a reset waits for the oldest one.
MOST = 6
# An incarnation leaves less than 1 MB. A collection takes about 0.1 s of processor time.
COLLECT_EVERY = 10

Call: typing.TypeAlias = Callable[[], object]


class EndedIncarnations:
    """Stops the daemons of ended incarnations, each incarnation in a separate thread."""

    def __init__(self) -> None:
        self._threads: collections.deque[runtime.Thread] = collections.deque()
        self._count = 0

    def add(self, stops: Sequence[Sequence[Call]]) -> None:
        """Call functions in a new thread. stops: groups of functions that are called together"""
        self._count += 1
        last = _free if self._count % COLLECT_EVERY == 0 else None
        self._threads.append(runtime.spawn(_run, stops, last, name='ended'))
        while self._threads and not self._threads[0].is_alive():
            self._threads.popleft()
        if len(self._threads) > MOST:
            self._threads.popleft().join()

    def wait(self) -> None:
        """Wait until the daemons of all ended incarnations have stopped."""
        while self._threads:
            self._threads.popleft().join()


def _run(stops: Sequence[Sequence[Call]], last: Call | None) -> None:
    # All functions are called, also after an error, which then ends the thread.
    with contextlib.ExitStack() as stack:
        if last is not None:
            stack.callback(last)
        for group in reversed(stops):
            stack.callback(functools.partial(together, group))


def _free() -> None:
    """Collect the objects of ended incarnations, and return their memory to the system."""
    gc.collect()
    malloc.trim()


def together(calls: Iterable[Call]) -> None:
    """Call functions at the same time, each in a thread, and wait until all have ended."""
    for thread in [runtime.spawn(call) for call in calls]:
        thread.join()
