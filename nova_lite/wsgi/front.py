"""One port for all services: a dispatcher by path prefix.

Each prefix has an application of this process, or a `proxy.Proxy` to another process. The prefixes
are those of devstack.
"""

import json


class Front:
    """A WSGI application that dispatches by prefix, and moves the prefix to SCRIPT_NAME.

    routes: {'/prefix': WSGI application}; keep: prefixes whose applications get the whole path
    """

    def __init__(self, routes, keep=()):
        self.routes, self.keep = dict(routes), frozenset(keep)

    def __call__(self, environ, start_response):
        path = environ.get('PATH_INFO', '')
        prefix = '/' + path[1:].partition('/')[0]
        application = self.routes.get(prefix)
        if application is None:
            body = json.dumps({'services': sorted(self.routes)}).encode()
            status = '200 OK' if path in ('', '/') else '404 Not Found'
            start_response(
                status, [('Content-Type', 'application/json'), ('Content-Length', str(len(body)))]
            )
            return [body]
        if prefix not in self.keep:
            environ['SCRIPT_NAME'] = environ.get('SCRIPT_NAME', '') + prefix
            environ['PATH_INFO'] = path[len(prefix) :]
        return application(environ, start_response)

    def close(self):
        """Close the applications that can be closed."""
        for application in self.routes.values():
            close = getattr(application, 'close', None)
            if close is not None:
                close()
