"""Answers kept for a short time."""

from collections.abc import Hashable
import typing

from nova_lite import runtime

MAX_ENTRIES = 1000

K = typing.TypeVar('K', bound=Hashable)
V = typing.TypeVar('V')


class Cache(typing.Generic[K, V]):
    """Values by key, each for `seconds`; 0 keeps nothing. Safe to use from threads."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.entries: dict[K, tuple[V, float]] = {}  # key -> (value, when it ends); oldest first

    def get(self, key: K) -> V | None:
        """Return the value, or None when there is none (any more)."""
        value, ends = self.entries.get(key, (None, 0))
        return value if ends > runtime.monotonic() else None

    def put(self, key: K, value: V) -> V:
        """Keep a value; returns it."""
        if self.seconds:
            self.entries.pop(key, None)
            self.entries[key] = (value, runtime.monotonic() + self.seconds)
            if len(self.entries) > MAX_ENTRIES:
                for oldest in list(self.entries)[: MAX_ENTRIES // 2]:
                    self.entries.pop(oldest, None)
        return value

    def drop(self, key: K) -> None:
        """Forget a value, if it is there."""
        self.entries.pop(key, None)
