"""Incarnations: the daemons of an embedded cloud from one reset to the next.

Threads of daemons cannot be killed. Their effects outside of their own memory (transactions,
requests to other services, guests) pass through the incarnation for which their objects
were made. `end` refuses new effects and waits for those in progress, so that an incarnation
that has ended changes nothing of the next one. Transactions on a database that a test has
taken down are refused too.

Processes of a daemon each have the incarnation `ENDLESS`.
"""

from collections.abc import Iterator
import contextlib

from nova_lite import exception
from nova_lite import runtime

LOOK_S = 0.001


class Incarnation:
    """The time between two resets of a cloud. number: how many resets there were before"""

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.has_ended = False
        # Changed without a lock, since each transaction does it: `pass_through` adds and
        # then looks at `has_ended`, `end` sets that and then looks at the set.
        self._passing: set[object] = set()
        self._down: frozenset[str] = frozenset()

    @contextlib.contextmanager
    def passing(self, database: str | None = None) -> Iterator[None]:
        """Enclose an effect outside of this process's memory. Raise Unavailable after the end.

        database: URL of the database of a transaction. Raise Unavailable if it was taken down.
        """
        token = object()
        self._passing.add(token)
        try:
            self.check()
            if database in self._down:
                raise exception.Unavailable(
                    service='The database', reason='it was taken down by an injected fault'
                )
            yield
        finally:
            self._passing.discard(token)

    def check(self) -> None:
        """Raise Unavailable after the end."""
        if self.has_ended:
            raise exception.Unavailable(service='The cloud', reason='it was reset')

    def take_down(self, database: str) -> None:
        """Refuse new transactions on a database. Transactions that have begun end."""
        self._down |= {database}

    def bring_up(self, database: str) -> None:
        """Allow transactions on a database again."""
        self._down -= {database}

    def end(self, seconds: float) -> bool:
        """Refuse new effects. Wait `seconds` for those in progress; return whether all ended."""
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

    Only the thread that makes daemons uses it: no other thread makes objects that call `current`.
    """
    global _current
    before, _current = _current, found
    try:
        yield
    finally:
        _current = before
