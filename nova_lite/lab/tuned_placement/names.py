"""Names of traits and resource classes that the requests to a tuned placement share.

Placement reads the names again in each request that uses one. The names stay true until a request
changes one: requests come one after the other, and no other process writes to the file.
"""

from collections.abc import Iterable
import re
import typing
from wsgiref import types as wsgi

from placement import db_api
import sqlalchemy

from nova_lite.lab.private_apis import placement_requests
from nova_lite.lab.tuned_placement import request_transactions

# Placement does not repeat these requests: no other request runs at the same time.
ATOMIC = re.compile('/allocations|/resource_providers/[^/]+/(inventories|traits|aggregates)')
NONE = re.compile('(?!)')


class SharedNames:
    """Lets requests share the names that they have read, and makes one transaction of each request.

    atomic: see `tuned_placement.of`
    """

    def __init__(self, application: wsgi.WSGIApplication, *, atomic: bool) -> None:
        self._application = request_transactions.RequestTransactions(
            application, ATOMIC if atomic else NONE
        )
        self._engine: sqlalchemy.Engine | None = None
        self._names: placement_requests.Names | None = None

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        names = self._lend_names(environ['placement.context'])
        self._names = None

        def start(status: str, headers: list[tuple[str, str]], *error: typing.Any) -> typing.Any:
            if int(status[:3]) < 400:
                self._names = names
            return start_response(status, headers, *error)

        return self._application(environ, start)

    def _lend_names(self, context: typing.Any) -> placement_requests.Names:
        """Give a request the names that earlier requests have read from the same database."""
        engine = db_api.get_placement_engine()
        if self._names is None or engine is not self._engine:
            self._engine, self._names = engine, placement_requests.Names(context)
        self._names.lend(context)
        return self._names
