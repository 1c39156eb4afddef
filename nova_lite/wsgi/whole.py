"""Requests to placement that are one transaction each.

Placement makes transactions of the parts of a request: one of each query at worst, and each
with a session, a connection from the pool and a message that ends it.
"""

import contextlib
import re

from placement import db_api

# What is written with these is left as it was by a request that is refused.
PARTS = re.compile('/resource_providers/[^/]+/(inventories|traits)$')


class Refused(Exception):
    """A request is refused, whose transaction is to be undone."""


class Whole:
    """Makes one transaction of each request that reads, and of some that write.

    writes: matches the paths of these. Requests that try again after another request was faster
        are not among them: they would see what they have written themselves
    """

    def __init__(self, application, writes):
        self._application, self._writes = application, writes

    def __call__(self, environ, start_response):
        started = []

        def start(*args):
            started[:] = args

        with contextlib.suppress(Refused):
            with self._transaction(environ):
                answer = self._application(environ, start)
                if int(started[0][:3]) >= 400:
                    raise Refused
        start_response(*started)
        return answer

    def _transaction(self, environ):
        """Run the transaction of a request; do nothing if placement is to make its own."""
        if environ['REQUEST_METHOD'] != 'GET' and not self._writes.match(environ['PATH_INFO']):
            return contextlib.nullcontext()
        return db_api.placement_context_manager.writer.using(environ['placement.context'])
