"""The clock itself: the system's clocks, moved ahead, and the waits that it wakes.

All clocks of `runtime` move together once the time of day was set. While time is frozen they
stand still, and waits with a timeout end only by a notification or an advance.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import itertools
import typing

from nova_lite import runtime

# A wait of this length does not belong to work in progress: an advance may pass its end.
LONG_S = 30.0
# Liveness must know of a step that is so long, because no service could report during it.
LEAP_S = 10.0


@dataclasses.dataclass(frozen=True)
class _Instant:
    """Values of the system's clocks. wall, monotonic, boot: seconds"""

    wall: float
    monotonic: float
    boot: float


@dataclasses.dataclass(frozen=True)
class State:
    """Seconds by which the clock is ahead of the system's, and since when it is frozen."""

    ahead_s: float = 0.0
    frozen: _Instant | None = None


@dataclasses.dataclass(frozen=True)
class _Wait:
    condition: runtime.Condition
    due: float
    idle: bool


class Clock(runtime.Runtime):
    """The runtime of an embedded cloud.

    ahead_s: seconds by which it is ahead of the system's clocks
    set_by_s: the part of them by which only the time of day was set, perhaps back; clocks that
        count elapsed time never go below zero
    """

    def __init__(self, ahead_s: float = 0.0, set_by_s: float = 0.0) -> None:
        super().__init__()
        self._set_by_s = set_by_s
        self._state = State(ahead_s)
        self._waits: dict[int, _Wait] = {}
        self._numbers = itertools.count()
        # Guards the two above. Nothing else is acquired within.
        self._guard = runtime.Lock()
        self._leap = (0.0, 0.0)

    # ---- what it shows ----

    @property
    def state(self) -> State:
        return self._state

    @property
    def waits(self) -> int:
        """Return the number of threads that wait with a timeout."""
        return len(self._waits)

    def _system(self) -> _Instant:
        return _Instant(super().now().timestamp(), super().monotonic(), super().boottime())

    def now(self) -> datetime.datetime:
        state = self._state
        if state.frozen is None:
            return super().now() + datetime.timedelta(seconds=state.ahead_s)
        return datetime.datetime.fromtimestamp(state.frozen.wall + state.ahead_s, datetime.UTC)

    def monotonic(self) -> float:
        state = self._state
        shown = super().monotonic() if state.frozen is None else state.frozen.monotonic
        return shown + state.ahead_s - self._set_by_s

    def boottime(self) -> float:
        state = self._state
        shown = super().boottime() if state.frozen is None else state.frozen.boot
        return shown + state.ahead_s - self._set_by_s

    def leap_s(self, within_s: float) -> float:
        at, seconds = self._leap
        recent = seconds if self.monotonic() - at <= within_s else 0.0
        return max(recent, super().leap_s(within_s))

    # ---- how it moves ----

    def freeze(self) -> None:
        """Stop time. Without effect while it is frozen."""
        with self._guard:
            if self._state.frozen is None:
                self._state = State(self._state.ahead_s, self._system())

    def resume(self) -> None:
        """Resume time from where it was frozen."""
        with self._guard:
            frozen = self._state.frozen
            if frozen is None:
                return
            passed_s = super().monotonic() - frozen.monotonic
            self._state = State(self._state.ahead_s - passed_s)
        self._wake(lambda wait: True)

    def jump(self, seconds: float) -> None:
        """Move ahead at once, and wake what has become due, in the order of the deadlines."""
        with self._guard:
            self._state = dataclasses.replace(self._state, ahead_s=self._state.ahead_s + seconds)
        now = self.monotonic()
        if seconds >= LEAP_S:
            self._leap = (now, seconds)
        self._wake(lambda wait: wait.due <= now)

    def work_due_s(self) -> float | None:
        """Return the seconds until the next wait of work in progress ends, None without one."""
        now = self.monotonic()
        with self._guard:
            due = [each.due for each in self._waits.values() if not each.idle and each.due > now]
        return min(due) - now if due else None

    def _wake(self, chosen: collections.abc.Callable[[_Wait], bool]) -> None:
        with self._guard:
            found = sorted(filter(chosen, self._waits.values()), key=lambda each: each.due)
        for condition in dict.fromkeys(each.condition for each in found):
            with condition:
                condition.notify_all()

    # ---- waits ----

    def block(self, condition: runtime.Condition, seconds: float, idle: bool) -> bool:
        due = self.monotonic() + seconds
        with self._registered(_Wait(condition, due, idle or seconds >= LONG_S)):
            while True:
                left = due - self.monotonic()
                if left <= 0:
                    return False
                if condition.wait_really(left if self._state.frozen is None else None):
                    return True

    def sleep(self, seconds: float) -> None:
        runtime.Event().wait(seconds)

    @contextlib.contextmanager
    def _registered(self, wait: _Wait) -> typing.Iterator[None]:
        with self._guard:
            number = next(self._numbers)
            self._waits[number] = wait
        try:
            yield
        finally:
            with self._guard:
                del self._waits[number]
