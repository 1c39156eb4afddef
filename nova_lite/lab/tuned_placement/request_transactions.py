"""Requests to placement that are one transaction each.

Placement makes transactions of the parts of a request: in the worst case one for each query. Each
transaction costs a session, a connection from the pool and a message that ends it.
"""

from collections.abc import Iterable
import contextlib
import re
import typing
from wsgiref import types as wsgi

from placement import db_api


class Refused(Exception):
    """A request was refused; its transaction is rolled back."""


class RequestTransactions:
    """Makes one transaction of each request that reads, and of some requests that write.

    writes: matches the paths of the requests that write. Requests that placement repeats after
        another request was faster are not among them: they would see their own former writes
    """

    def __init__(self, application: wsgi.WSGIApplication, writes: re.Pattern[str]) -> None:
        self._application, self._writes = application, writes

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        started: list[typing.Any] = []

        def start(*args: typing.Any) -> typing.Any:
            started[:] = args

        with contextlib.suppress(Refused):
            with self._transaction(environ):
                answer = self._application(environ, start)
                if int(started[0][:3]) >= 400:
                    raise Refused
        start_response(*started)
        return answer

    def _transaction(
        self, environ: wsgi.WSGIEnvironment
    ) -> contextlib.AbstractContextManager[typing.Any]:
        """Return the transaction of a request, or nothing if placement is to make its own."""
        if environ['REQUEST_METHOD'] != 'GET' and not self._writes.match(environ['PATH_INFO']):
            return contextlib.nullcontext()
        context = environ['placement.context']
        found: contextlib.AbstractContextManager[typing.Any]
        found = db_api.placement_context_manager.writer.using(context)
        return found
