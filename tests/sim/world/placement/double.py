"""The requests to placement that histories make most, answered by a few statements on its tables.

Real placement takes some milliseconds for each. The double answers what succeeds, from the same
file, and leaves all else to the real placement: other kinds of requests, refusals, and trees of
providers. So whatever it answers can be compared with the answer of the real one, and with its rows
(``tests.unit.sim.test_placement_double``).
"""

import collections
import io
import json
import sqlite3
import typing
import urllib.parse

from nova_lite import runtime
from tests.sim.world.placement import candidates
from tests.sim.world.placement import claims
from tests.sim.world.placement import names as names_module
from tests.sim.world.placement import reads
from tests.sim.world.placement import tables

# Of the compute service's requests. Other versions have other answers.
VERSION = 'placement 1.36'
# {(method, first part of the path, number of its parts, the third part): function}
KINDS = {
    ('GET', 'allocation_candidates', 1, ''): candidates.offer,
    ('GET', 'allocations', 2, ''): reads.holding,
    ('PUT', 'allocations', 2, ''): claims.replace,
    ('POST', 'allocations', 1, ''): claims.replace_all,
    ('DELETE', 'allocations', 2, ''): claims.delete,
    ('GET', 'usages', 1, ''): reads.project_usages,
    ('GET', 'resource_providers', 1, ''): reads.providers,
    ('GET', 'resource_providers', 2, ''): reads.provider,
    ('GET', 'resource_providers', 3, 'inventories'): reads.inventories,
    ('GET', 'resource_providers', 3, 'traits'): reads.traits,
    ('GET', 'resource_providers', 3, 'aggregates'): reads.aggregates,
    ('GET', 'resource_providers', 3, 'usages'): reads.usages,
    ('GET', 'resource_providers', 3, 'allocations'): reads.allocations,
}
HEADERS = [('openstack-api-version', VERSION), ('vary', 'openstack-api-version')]
EMPTY = '204 No Content'


class Request(typing.NamedTuple):
    """A request. script: what its path begins with elsewhere; query: pairs; read: gives its body"""

    script: str
    parts: list
    query: list
    read: typing.Callable


class Double:
    """A WSGI application before the real one. path: of the file that both use

    answered: {kind of requests: how many the double has answered}
    """

    def __init__(self, application, path):
        self._application, self._path = application, path
        self._lock, self._tables = runtime.Lock(), None
        self.answered = collections.Counter()

    def __call__(self, environ, start_response):
        # As the real one over SQLite: one request at a time.
        with self._lock:
            try:
                found = self._answer(environ)
            except tables.LeftToReal:
                return self._real(environ, start_response)
        return _answered(found, start_response)

    def _real(self, environ, start_response):
        if environ['REQUEST_METHOD'] != 'GET' and self._tables is not None:
            self._tables.names.forget()
        return self._application(environ, start_response)

    def _answer(self, environ):
        """Return the JSON of a request, or None. Raise LeftToReal"""
        admin = 'admin' in environ.get('HTTP_X_ROLES', '').split(',')
        parts = (environ['PATH_INFO'] or '/').split('/')[1:]
        if not admin or environ.get('HTTP_OPENSTACK_API_VERSION') != VERSION:
            raise tables.LeftToReal
        kind = environ['REQUEST_METHOD'], parts[0], len(parts), parts[2] if len(parts) == 3 else ''
        function = KINDS.get(kind)
        if function is None:
            raise tables.LeftToReal
        query = urllib.parse.parse_qsl(environ['QUERY_STRING'], keep_blank_values=True)
        request = Request(environ['SCRIPT_NAME'], parts, query, lambda: _body(environ))
        found = function(self._opened(), request)
        self.answered[kind] += 1
        return found

    def _opened(self):
        if self._tables is None:
            connection = sqlite3.connect(self._path)
            connection.isolation_level = None
            connection.execute('PRAGMA journal_mode = WAL')
            connection.execute('PRAGMA synchronous = NORMAL')
            self._tables = tables.Tables(connection, names_module.Names(connection))
        return self._tables


def _body(environ):
    """Decode the body of a request, and keep it for the real placement."""
    data = environ['wsgi.input'].read()
    environ['wsgi.input'] = io.BytesIO(data)
    try:
        found = json.loads(data)
    except ValueError:
        raise tables.LeftToReal from None
    if type(found) is not dict:
        raise tables.LeftToReal
    return found


def _answered(found, start_response):
    if found is None:
        start_response(EMPTY, [*HEADERS, ('Content-Length', '0')])
        return [b'']
    body = json.dumps(found).encode()
    more = [
        ('Content-Length', str(len(body))),
        ('Content-Type', 'application/json'),
        ('cache-control', 'no-cache'),
    ]
    start_response('200 OK', [*HEADERS, *more])
    return [body]
