"""Answers kept for a short time."""

from collections.abc import Hashable
import typing

from nova_lite import runtime

MAX_ENTRIES = 1000

K = typing.TypeVar('K', bound=Hashable)
V = typing.TypeVar('V')


class Cache(typing.Generic[K, V]):
    """Keeps values by key for `seconds` (0: not at all). Safe to use from several threads."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.entries: dict[
            K, tuple[V, float]
        ] = {}  # {key: (value, time of its end)}, the oldest first

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None if it is missing or has expired."""
        value, ends = self.entries.get(key, (None, 0))
        return value if ends > runtime.monotonic() else None

    def put(self, key: K, value: V) -> V:
        """Keep a value, and return it."""
        if self.seconds:
            self.entries.pop(key, None)
            self.entries[key] = (value, runtime.monotonic() + self.seconds)
            if len(self.entries) > MAX_ENTRIES:
                for oldest in list(self.entries)[: MAX_ENTRIES // 2]:
                    self.entries.pop(oldest, None)
        return value

    def drop(self, key: K) -> None:
        """Remove the value of a key, if any."""
        self.entries.pop(key, None)
