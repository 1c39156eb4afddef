"""Calls that wait at the same time are made as one call, without a timer.

A caller that finds no other call in progress makes its call at once. Callers that arrive during a
call wait. When the call has ended, the first of them makes one call for all that wait. So a call
alone never waits, and calls under load share what a single call costs.
"""

import collections
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
import enum
import typing

from nova_lite import runtime

# Seconds that a caller waits for a call in progress before it makes the next call beside it. No
# caller waits for the former call after that, so a call that hangs delays others once.
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

    __slots__ = ('at', 'changed', 'error', 'lane', 'member', 'result')

    def __init__(self, member: Member, lane: '_Lane[Member, Result]') -> None:
        self.member, self.lane, self.at = member, lane, _At.WAITING
        self.changed = runtime.Event()
        self.result: Result | None = None
        self.error: BaseException | None = None


class _Lane(typing.Generic[Member, Result]):
    """The callers that may be joined. leader: the one whose call others wait for, or None"""

    __slots__ = ('key', 'leader', 'waiting')

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.leader: _Place[Member, Result] | None = None
        self.waiting: collections.deque[_Place[Member, Result]] = collections.deque()


class Combiner(typing.Generic[Member, Result]):
    """Makes calls of one kind, those that wait together as one.

    together: makes the call for several members. Returns their results in order, or None if it was
        refused as a whole and had no effect: then each caller makes its own call. An error that it
        raises is raised for each member
    most: number of members of one call
    repeatable: whether a member may make its own call while the joint one goes on. Then a joint
        call that hangs delays only the caller that makes it
    """

    def __init__(
        self,
        together: Callable[[Sequence[Member]], Sequence[Result] | None],
        most: int,
        patience_s: float = PATIENCE_S,
        *,
        repeatable: bool = False,
    ) -> None:
        self._together, self._most, self._patience_s = together, most, patience_s
        self._repeatable = repeatable
        # Guards all of the following, and the places that wait.
        self._lock = runtime.Lock()
        # The lanes with calls in progress, by key.
        self._lanes: dict[Hashable, _Lane[Member, Result]] = {}

    def call(self, member: Member, alone: Callable[[], Result], *, key: Hashable = None) -> Result:
        """Return the result of a member, or raise its error.

        alone: makes the call for the member alone
        key: only members with equal keys wait for each other and are joined
        """
        with self._lock:
            lane = self._lanes.setdefault(key, _Lane(key))
            place: _Place[Member, Result] = _Place(member, lane)
            if lane.leader is None:
                self._lead(place)
            else:
                lane.waiting.append(place)
        if place.at is not _At.LEADING:
            try:
                self._await(place)
            except BaseException:
                self._abandon(place)
                raise
        if place.at is _At.LEADING:
            self._make(place, alone)
        if place.at is _At.ALONE:
            return alone()
        if place.error is not None:
            raise place.error
        return typing.cast(Result, place.result)

    def _lead(self, place: _Place[Member, Result]) -> None:
        place.at = _At.LEADING
        place.lane.leader = place

    def _await(self, place: _Place[Member, Result]) -> None:
        """Wait until another caller has made the call, or until this caller is to make it."""
        place.changed.wait(self._patience_s)
        with self._lock:
            if place.at is _At.WAITING:
                place.lane.waiting.remove(place)
                self._lead(place)
        if place.at is _At.TAKEN:
            place.changed.wait(self._patience_s if self._repeatable else None)
            with self._lock:
                if place.at is _At.TAKEN:
                    place.at = _At.ALONE

    def _abandon(self, place: _Place[Member, Result]) -> None:
        """Free the place of a caller whose thread an exception ends."""
        with self._lock:
            if place.at is _At.WAITING:
                place.lane.waiting.remove(place)
        if place.at is _At.LEADING:
            self._release(place)

    def _make(self, place: _Place[Member, Result], alone: Callable[[], Result]) -> None:
        """Make the call for a place and those that wait, at most `most` together."""
        waiting = place.lane.waiting
        with self._lock:
            others = [waiting.popleft() for _ in range(min(len(waiting), self._most - 1))]
            for other in others:
                other.at = _At.TAKEN
        places = [place, *others]
        try:
            results = self._together([each.member for each in places]) if others else [alone()]
            for number, each in enumerate(places):
                if results is None:
                    self._end(each, _At.ALONE)
                else:
                    self._end(each, _At.ENDED, results[number])
        except BaseException as error:
            for each in others:
                self._end(each, _At.ENDED, error=error)
            raise
        finally:
            self._release(place)

    def _end(
        self,
        place: _Place[Member, Result],
        at: _At,
        result: Result | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Give a caller its result, unless it makes its own call by now."""
        with self._lock:
            if place.at is not _At.ALONE:
                place.result, place.error, place.at = result, error, at
        place.changed.set()

    def _release(self, place: _Place[Member, Result]) -> None:
        """End the call of a caller. If others wait for it, make the first of them the next one."""
        lane = place.lane
        with self._lock:
            if lane.leader is not place:
                return
            if lane.waiting:
                following = lane.waiting.popleft()
                self._lead(following)
                following.changed.set()
            else:
                del self._lanes[lane.key]
