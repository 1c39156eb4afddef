"""One port for all services: a dispatcher by path prefix.

Each prefix has an application of this process, or a `proxy.Proxy` to another process. The prefixes
are those of devstack.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from wsgiref import types as wsgi

from nova_lite.daemons.wsgi import answers


class Front:
    """A WSGI application that dispatches by prefix, and moves the prefix to SCRIPT_NAME.

    routes: {'/prefix': WSGI application}; keep: prefixes whose applications get the whole path
    """

    def __init__(
        self, routes: Mapping[str, wsgi.WSGIApplication], keep: Collection[str] = ()
    ) -> None:
        self.routes, self.keep = dict(routes), frozenset(keep)

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        prefix = '/' + path[1:].partition('/')[0]
        application = self.routes.get(prefix)
        if application is None:
            status = '200 OK' if path in ('', '/') else '404 Not Found'
            return answers.as_json(start_response, status, {'services': sorted(self.routes)})
        if prefix not in self.keep:
            environ['SCRIPT_NAME'] = environ.get('SCRIPT_NAME', '') + prefix
            environ['PATH_INFO'] = path[len(prefix) :]
        return application(environ, start_response)

    def close(self) -> None:
        """Close the applications that can be closed."""
        for application in self.routes.values():
            answers.close(application)
