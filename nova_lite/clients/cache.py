"""Answers kept for a short time."""

from nova_lite import runtime

MAX_ENTRIES = 1000


class Cache:
    """Values by key, each for `seconds`; 0 keeps nothing. Safe to use from threads."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.entries = {}  # key -> (value, when it ends); oldest first

    def get(self, key):
        """The value, or None when there is none (any more)."""
        value, ends = self.entries.get(key, (None, 0))
        return value if ends > runtime.monotonic() else None

    def put(self, key, value):
        """Keep a value; returns it."""
        if self.seconds:
            self.entries.pop(key, None)
            self.entries[key] = (value, runtime.monotonic() + self.seconds)
            if len(self.entries) > MAX_ENTRIES:
                for oldest in list(self.entries)[: MAX_ENTRIES // 2]:
                    self.entries.pop(oldest, None)
        return value

    def drop(self, key):
        """Forget a value, if it is there."""
        self.entries.pop(key, None)
