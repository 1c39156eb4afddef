"""A gate before an application: while it is closed, requests wait."""

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
from wsgiref import types as wsgi

from nova_lite import runtime
from nova_lite.daemons.wsgi import answers

WAIT_S = 10
RETRY_AFTER_S = 1
# Seconds in which requests in progress may end before the gate counts as closed.
DRAIN_S, LOOK_S = 0.2, 0.001
REASON = 'The cloud is being reset. Try again later.'


class Gate:
    """The WSGI application. Requests that wait longer than `wait_s` seconds are answered with 503.

    problem: text of the 503 with which all requests are answered at once; None if there is none
    """

    def __init__(self, application: wsgi.WSGIApplication, *, wait_s: float = WAIT_S) -> None:
        self.application, self._wait_s = application, wait_s
        self.problem: str | None = None
        self._open = runtime.Event()
        self._open.set()
        # Changed without a lock: a request is added before it looks whether the gate is
        # open, and `closed` looks at the requests after it has closed the gate.
        self._passing: set[object] = set()

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        deadline = runtime.monotonic() + self._wait_s
        request = object()
        while True:
            self._passing.add(request)
            try:
                if self._open.is_set():
                    if self.problem is not None:
                        return _refuse(start_response, self.problem)
                    return self.application(environ, start_response)
            finally:
                self._passing.discard(request)
            if not runtime.wait(self._open, deadline - runtime.monotonic()):
                return _refuse(start_response, REASON)

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """Close the gate for the block. After an error the gate stays closed until `refuse`."""
        self._open.clear()
        self.problem = None
        deadline = runtime.monotonic() + DRAIN_S
        while self._passing and runtime.monotonic() < deadline:
            runtime.sleep(LOOK_S)
        yield
        self._open.set()

    def refuse(self, problem: str) -> None:
        """Answer all requests with 503 and `problem`, until the gate is closed and opened again."""
        self.problem = problem
        self._open.set()


def _refuse(start_response: wsgi.StartResponse, reason: str) -> list[bytes]:
    headers = [('Retry-After', str(RETRY_AFTER_S))]
    return answers.refuse(start_response, '503 Service Unavailable', reason, headers)
