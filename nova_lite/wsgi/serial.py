"""Placement on an SQLite file, which no other process writes: one request at a time.

So a request can be one transaction, and what placement reads of names of traits and
resource classes in each request stays true until a request changes it.
"""

import re

from placement import db_api

from nova_lite import runtime
from nova_lite.private_apis import placement as internals
from nova_lite.wsgi import whole

# No other request makes one of these try again, or write what is there already.
ATOMIC = re.compile('/allocations|/resource_providers/[^/]+/(inventories|traits|aggregates)')
NONE = re.compile('(?!)')


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


class Alone:
    """Has requests share what they read of names, and makes one transaction of each.

    Placement itself reads names again in each request. Requests must come one after the other.

    atomic: for requests that write too. Without it placement that is killed may leave a part
        behind, as with a database server
    """

    def __init__(self, application, *, atomic=True):
        self._application = whole.Whole(application, ATOMIC if atomic else NONE)
        self._engine, self._names = None, None

    def __call__(self, environ, start_response):
        self._lend_names(environ['placement.context'])
        names, self._names = self._names, None

        def start(status, *others):
            if int(status[:3]) < 400:
                self._names = names
            return start_response(status, *others)

        return self._application(environ, start)

    def _lend_names(self, context):
        """Give the request the names that earlier ones have read of the same database."""
        engine = db_api.get_placement_engine()
        if self._names is None or engine is not self._engine:
            self._engine, self._names = engine, internals.Names(context)
        self._names.lend(context)
