"""Placement over an SQLite file: one request at a time.

A request of placement has several transactions, each of which begins with a read. SQLite refuses
the writes of two such transactions at once: a quarter of the requests would fail with "database is
locked".
"""

from collections.abc import Iterable
from wsgiref import types as wsgi

from nova_lite import runtime


class Serial:
    """Serializes the requests to the inner application. After `end` all requests are refused."""

    def __init__(self, application: wsgi.WSGIApplication) -> None:
        self.application = application
        self.lock = runtime.Lock()
        self._has_ended = False

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        with self.lock:
            if self._has_ended:
                start_response('503 Service Unavailable', [('Retry-After', '1')])
                return [b'Placement is being reset.']
            return self.application(environ, start_response)

    def end(self) -> None:
        """Wait for the request in progress, and refuse all later requests."""
        with self.lock:
            self._has_ended = True
