"""Calls that wait at the same time are made as one call, without a timer.

A caller that finds no other call in progress makes its call at once. Callers that arrive during a
call wait. When the call has ended, the first of them makes one call for all that wait. So a call
alone never waits, and calls under load share what a single call costs.
"""

import collections
from collections.abc import Callable
from collections.abc import Sequence
import enum
import typing

from nova_lite import runtime

# Seconds that a caller waits for a call in progress before it makes the next call beside it. So a
# call that hangs delays others once, and not one after the other.
PATIENCE_S = 1.0

Member = typing.TypeVar('Member')
Result = typing.TypeVar('Result')


class _At(enum.Enum):
    """State of a caller."""

    WAITING = enum.auto()
    LEADING = enum.auto()
    TAKEN = enum.auto()  # another caller makes the call
    ENDED = enum.auto()
    ALONE = enum.auto()  # the joint call was refused


class _Place(typing.Generic[Member, Result]):
    """A caller. changed: set when another caller has changed `at`"""

    __slots__ = ('at', 'changed', 'error', 'member', 'result')

    def __init__(self, member: Member) -> None:
        self.member, self.at = member, _At.WAITING
        self.changed = runtime.Event()
        self.result: Result | None = None
        self.error: BaseException | None = None

    def end(
        self, at: _At, result: Result | None = None, error: BaseException | None = None
    ) -> None:
        self.result, self.error, self.at = result, error, at
        self.changed.set()


class Combiner(typing.Generic[Member, Result]):
    """Makes calls of one kind, those that wait together as one.

    together: makes the call for several members. Returns their results in order, or None if it was
        refused as a whole and had no effect: then each caller makes its own call. An error that it
        raises is raised for each member
    most: number of members of one call
    """

    def __init__(
        self,
        together: Callable[[Sequence[Member]], Sequence[Result] | None],
        most: int,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._together, self._most, self._patience_s = together, most, patience_s
        # Guards all of the following, and the places that wait.
        self._lock = runtime.Lock()
        self._waiting: collections.deque[_Place[Member, Result]] = collections.deque()
        self._leaders = 0

    def call(self, member: Member, alone: Callable[[], Result]) -> Result:
        """Return the result of a member, or raise its error. alone: makes the call for it alone"""
        place: _Place[Member, Result] = _Place(member)
        with self._lock:
            if self._leaders:
                self._waiting.append(place)
            else:
                self._lead(place)
        if place.at is not _At.LEADING:
            self._await(place)
        if place.at is _At.LEADING:
            self._make(place, alone)
        if place.at is _At.ALONE:
            return alone()
        if place.error is not None:
            raise place.error
        return typing.cast(Result, place.result)

    def _lead(self, place: _Place[Member, Result]) -> None:
        place.at = _At.LEADING
        self._leaders += 1

    def _await(self, place: _Place[Member, Result]) -> None:
        """Wait until another caller has made the call, or until this caller is to make it."""
        place.changed.wait(self._patience_s)
        with self._lock:
            if place.at is _At.WAITING:
                self._waiting.remove(place)
                self._lead(place)
        if place.at is _At.TAKEN:
            place.changed.wait()

    def _make(self, place: _Place[Member, Result], alone: Callable[[], Result]) -> None:
        """Make the call for a place and those that wait, at most `most` together."""
        with self._lock:
            others = [
                self._waiting.popleft() for _ in range(min(len(self._waiting), self._most - 1))
            ]
            for other in others:
                other.at = _At.TAKEN
        places = [place, *others]
        try:
            results = self._together([each.member for each in places]) if others else [alone()]
            for number, each in enumerate(places):
                if results is None:
                    each.end(_At.ALONE)
                else:
                    each.end(_At.ENDED, results[number])
        except BaseException as error:
            for each in others:
                each.end(_At.ENDED, error=error)
            raise
        finally:
            self._release()

    def _release(self) -> None:
        """End the call. Make the first caller that waits the next one to call."""
        with self._lock:
            self._leaders -= 1
            if not self._leaders and self._waiting:
                following = self._waiting.popleft()
                self._lead(following)
                following.changed.set()
