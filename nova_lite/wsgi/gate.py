"""A gate before an application: while it is closed, requests wait."""

import contextlib
import json

from nova_lite import runtime

WAIT_S = 10
RETRY_AFTER_S = 1
# Seconds in which requests in progress may end before the gate counts as closed.
DRAIN_S, LOOK_S = 0.2, 0.001
REASON = 'The cloud is being reset. Try again later.'


class Gate:
    """The WSGI application. Requests that wait longer than `wait_s` are answered 503.

    problem: text with which all requests are answered 503 at once; None
    """

    def __init__(self, application, *, wait_s=WAIT_S):
        self.application, self._wait_s = application, wait_s
        self.problem = None
        self._open = runtime.Event()
        self._open.set()
        # Changed without a lock: a request is added before it looks whether the gate is
        # open, and `closed` looks at the requests after it has closed the gate.
        self._passing = set()

    def __call__(self, environ, start_response):
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
    def closed(self):
        """Close the gate for the block. After an error it stays closed until `refuse`."""
        self._open.clear()
        self.problem = None
        deadline = runtime.monotonic() + DRAIN_S
        while self._passing and runtime.monotonic() < deadline:
            runtime.sleep(LOOK_S)
        yield
        self._open.set()

    def refuse(self, problem):
        """Answer all requests 503 with this text, until the gate is closed and opened again."""
        self.problem = problem
        self._open.set()


def _refuse(start_response, reason):
    body = json.dumps({'error': {'code': 503, 'message': reason}}).encode()
    headers = [
        ('Content-Type', 'application/json'),
        ('Content-Length', str(len(body))),
        ('Retry-After', str(RETRY_AFTER_S)),
    ]
    start_response('503 Service Unavailable', headers)
    return [body]
