"""Placement on an SQLite file, which no other process writes: one request at a time.

So a request can be one transaction, and what placement reads of names of traits and
resource classes in each request stays true until a request changes it.
"""

import contextlib
import re

from placement import db_api

from nova_lite import runtime
from nova_lite.private_apis import placement as internals

# What is written with these is left as it was by a request that is refused. Others go on after
# errors of the database, which end a transaction.
ATOMIC = re.compile('/allocations|/resource_providers/[^/]+/(inventories|traits|aggregates)')


class Serial:
    """Serializes the requests to the inner application. After `end` it refuses them."""

    def __init__(self, application):
        self.application = application
        self.lock = runtime.Lock()
        self._has_ended = False

    def __call__(self, environ, start_response):
        with self.lock:
            if self._has_ended:
                start_response('503 Service Unavailable', [('Retry-After', '1')])
                return [b'Placement is being reset.']
            return self.application(environ, start_response)

    def end(self):
        """Wait for the request that runs, and refuse all others."""
        with self.lock:
            self._has_ended = True


class Refused(Exception):
    """A request is refused, whose transaction is to be undone."""


class Alone:
    """Has requests share what they read of names, and makes one transaction of each.

    Placement itself reads names again in each request, and makes transactions of the parts
    of a request, one of each query at worst. Requests must come one after the other.

    atomic: for requests that write too. Without it placement that is killed may leave a part
        behind, as with a database server
    """

    def __init__(self, application, *, atomic=True):
        self._application, self._atomic = application, atomic
        self._engine, self._names = None, None

    def __call__(self, environ, start_response):
        context = environ['placement.context']
        self._lend_names(context)
        started = []

        def start(*args):
            started[:] = args

        names, self._names = self._names, None
        with contextlib.suppress(Refused):
            with self._transaction(environ, context):
                answer = self._application(environ, start)
                if int(started[0][:3]) >= 400:
                    raise Refused
            self._names = names
        start_response(*started)
        return answer

    def _lend_names(self, context):
        """Give the request the names that earlier ones have read of the same database."""
        engine = db_api.get_placement_engine()
        if self._names is None or engine is not self._engine:
            self._engine, self._names = engine, internals.Names(context)
        self._names.lend(context)

    def _transaction(self, environ, context):
        """Run the transaction of a request; do nothing if placement is to make its own."""
        writes = environ['REQUEST_METHOD'] != 'GET'
        if writes and not (self._atomic and ATOMIC.match(environ['PATH_INFO'])):
            return contextlib.nullcontext()
        return db_api.placement_context_manager.writer.using(context)
