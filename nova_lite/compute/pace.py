"""Pace: what audits do less often than in each audit."""

from nova_lite import runtime


class Pace:
    """Remembers when something was last done. It is due in the first audit."""

    def __init__(self) -> None:
        self._last: float | None = None

    def is_due(self, interval_s: float) -> bool:
        """Return whether it is to be done now, and count it as done then."""
        now = runtime.monotonic()
        if self._last is not None and now - self._last < interval_s:
            return False
        self._last = now
        return True
