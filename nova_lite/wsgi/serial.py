"""Placement on an SQLite file, which no other process writes: one request at a time.

So a request can be one transaction, and the names of traits and resource classes, which placement
reads in each request, stay true until a request changes them.
"""

from collections.abc import Callable
from collections.abc import Iterable
import re
from wsgiref import types as wsgi

from placement import context as placement_context
from placement import db_api

from nova_lite import runtime
from nova_lite.private_apis import placement as internals
from nova_lite.wsgi import whole

# Placement does not repeat these requests: no other request runs at the same time.
ATOMIC = re.compile('/allocations|/resource_providers/[^/]+/(inventories|traits|aggregates)')
NONE = re.compile('(?!)')


class Serial:
    """Serializes the requests to the inner application. After `end` all requests are refused."""

    def __init__(self, application: whole.Inner) -> None:
        self.application = application
        self.lock = runtime.Lock()
        self._has_ended = False

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: Callable[..., object]
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


class Alone:
    """Lets requests share the names that they have read, and makes one transaction of each request.

    Placement itself reads names again in each request. Requests must come one after the other.

    atomic: whether requests that write are one transaction too. If not, placement that is killed
        may leave a part of a request behind, as with a database server
    """

    def __init__(self, application: whole.Inner, *, atomic: bool = True) -> None:
        self._application = whole.Whole(application, ATOMIC if atomic else NONE)
        self._engine: object = None
        self._names: internals.Names | None = None

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        names = self._lend_names(environ['placement.context'])
        self._names = None

        def start(status: str, *others: object) -> object:
            if int(status[:3]) < 400:
                self._names = names
            return start_response(status, *others)

        return self._application(environ, start)

    def _lend_names(self, context: placement_context.RequestContext) -> internals.Names:
        """Give a request the names that earlier requests have read from the same database."""
        engine = db_api.get_placement_engine()
        if self._names is None or engine is not self._engine:
            self._engine, self._names = engine, internals.Names(context)
        self._names.lend(context)
        return self._names
