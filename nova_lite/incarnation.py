"""Incarnations: the daemons of an embedded cloud from one reset to the next.

Threads of daemons cannot be killed. What they do outside of their own memory (transactions,
requests to other services, guests) passes through the incarnation for which their objects
were made. `end` refuses it from then on, and waits for what has begun: so nothing of an
incarnation that has ended changes the state of the next one.

Processes of a daemon each have the incarnation `ENDLESS`.
"""

from collections.abc import Iterator
import contextlib

from nova_lite import exception
from nova_lite import runtime

LOOK_S = 0.001


class Incarnation:
    """number: of the resets of the cloud before it"""

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.has_ended = False
        # Changed without a lock, since each transaction does it: `pass_through` adds and
        # then looks at `has_ended`, `end` sets that and then looks at the set.
        self._passing: set[object] = set()

    @contextlib.contextmanager
    def passing(self) -> Iterator[None]:
        """Run an effect outside of this process's memory. Raise Unavailable after the end."""
        token = object()
        self._passing.add(token)
        try:
            self.check()
            yield
        finally:
            self._passing.discard(token)

    def check(self) -> None:
        """Raise Unavailable after the end."""
        if self.has_ended:
            raise exception.Unavailable(service='The cloud', reason='it was reset')

    def end(self, seconds: float) -> bool:
        """Refuse effects and wait for those that have begun. Return whether they are over."""
        self.has_ended = True
        deadline = runtime.monotonic() + seconds
        while self._passing:
            if runtime.monotonic() > deadline:
                return False
            runtime.sleep(LOOK_S)
        return True

    def next(self) -> 'Incarnation':
        """Return the incarnation that follows this one."""
        return Incarnation(self.number + 1)


ENDLESS = Incarnation()
_current = ENDLESS


def current() -> Incarnation:
    """Return the incarnation that objects made now belong to."""
    return _current


@contextlib.contextmanager
def within(found: Incarnation) -> Iterator[None]:
    """Make an incarnation the current one of this process inside the block.

    For the thread that makes daemons: no other makes objects that ask for `current`.
    """
    global _current
    before, _current = _current, found
    try:
        yield
    finally:
        _current = before
