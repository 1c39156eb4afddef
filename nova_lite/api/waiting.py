"""Requests that wait for what another process does, and how many of them may.

Each holds a thread of the API. They are bounded, so that threads are left for other
requests, whatever a host or a cell does not answer.
"""

from collections.abc import Iterator

from oslo_config import cfg

from nova_lite import exception
from nova_lite import runtime

FIRST_PAUSE_S, LONGEST_PAUSE_S, GROWTH = 0.02, 0.25, 1.5


class TooManyWaiting(exception.Unavailable):
    """The maximum number of requests waits. retry_after_s: when the client should try again"""

    msg = 'Too many requests are waiting for other services at the moment. Try again later.'
    retry_after_s = 5


class Waiters:
    """The requests that wait. options: [api]"""

    def __init__(self, options: cfg.ConfigOpts.GroupAttr) -> None:
        self._options = options
        self._requests: set[object] = set()
        self._lock = runtime.Lock()

    @property
    def limit(self) -> int:
        """Return the number of requests that may wait at the same time.

        Further ones are rejected at once. To let them wait for their turn would hold the
        same threads as to let them wait for the other process.
        """
        limit: int = self._options.max_waiting_requests or self._options.threads * 3 // 4
        return max(1, limit)

    def enter(self, req: object) -> None:
        """Count a request until it is answered; raises TooManyWaiting. May be repeated."""
        with self._lock:
            if req not in self._requests and len(self._requests) >= self.limit:
                raise TooManyWaiting(reason=f'{self.limit} requests wait')
            self._requests.add(req)

    def leave(self, req: object) -> None:
        """Forget a request that is answered, if it has waited."""
        with self._lock:
            self._requests.discard(req)

    def pause(self, req: object, seconds: float) -> None:
        """Sleep as a request that waits. Raise TooManyWaiting."""
        self.enter(req)
        runtime.sleep(seconds)

    def looks(self, req: object, timeout_s: float) -> Iterator[None]:
        """Yield, at growing intervals, until the time is up; at least once."""
        deadline = runtime.monotonic() + timeout_s
        seconds = FIRST_PAUSE_S
        while True:
            yield
            if runtime.monotonic() >= deadline:
                return
            self.pause(req, seconds)
            seconds = min(LONGEST_PAUSE_S, seconds * GROWTH)
