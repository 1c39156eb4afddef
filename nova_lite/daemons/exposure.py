"""Refuse to run a service that accepts identity headers on an address that is not loopback."""

import ipaddress
import json

from nova_lite import exception
from nova_lite.daemons import local_requests
from nova_lite.wsgi import paths
from nova_lite.wsgi import server

# The addresses of a service that is reached at all addresses, and those of loopback.
ANY_ADDRESS = {'0.0.0.0': '127.0.0.1', '::': '::1'}


NOAUTH = 'noauth'


class Exposed(exception.Invalid):
    msg = '%(reason)s'


def problem(auth_strategy, listen):
    """Return why a service must not listen on an address, or None.

    auth_strategy: keystone or noauth; listen: an address or a host name
    """
    if auth_strategy != NOAUTH or is_loopback(listen):
        return None
    return (
        f'With noauth every client that reaches {listen} is an administrator: the headers '
        'X-User-Id, X-Project-Id and X-Roles are accepted without a check. Listen on 127.0.0.1, '
        'or use keystone.'
    )


def require_safe(auth_strategies, listen):
    """Raise Exposed unless services with some auth_strategies may listen on an address."""
    for each in auth_strategies:
        found = problem(each, listen)
        if found is not None:
            raise Exposed(reason=found)


def protected(application, auth_strategies, listen):
    """Return the application to serve, guarded if it has noauth.

    Raise Exposed as `require_safe`.
    """
    require_safe(auth_strategies, listen)
    return Guarded(application) if NOAUTH in auth_strategies else application


def plain(application, options):
    """Return the application for another server, such as uWSGI or mod_wsgi.

    options: auth_strategy and listen of the service. Raise Exposed as `require_safe`
    """
    return paths.Decoded(protected(application, {options.auth_strategy}, options.listen))


class Guarded:
    """Serves an application only to this machine, and not to pages of other sites."""

    def __init__(self, application):
        self._application = application

    def __call__(self, environ, start_response):
        found = _problem(environ)
        if found is None:
            return self._application(environ, start_response)
        body = json.dumps({'error': {'code': 403, 'message': found}}).encode()
        headers = [('Content-Type', 'application/json'), ('Content-Length', str(len(body)))]
        start_response('403 Forbidden', headers)
        return [body]

    def close(self):
        """Close the application inside, if it can be closed."""
        close = getattr(self._application, 'close', None)
        if close is not None:
            close()


def _problem(environ):
    """Return why a request is refused, or None. Requests over a local socket have no address."""
    address = environ.get('REMOTE_ADDR')
    if address and not is_loopback(address):
        return 'With noauth only requests of this machine are served.'
    return local_requests.problem(environ)


def serve(load_application, options, *, workers=None):
    """Serve the result of `load_application()` until SIGTERM. Raise Exposed if it is not safe.

    options: listen, port, workers, threads and auth_strategy of the service
    workers: number of processes; None: options.workers
    """
    try:
        require_safe({options.auth_strategy}, options.listen)
    except Exposed as error:
        raise SystemExit(str(error)) from error
    server.serve(
        lambda: protected(load_application(), {options.auth_strategy}, options.listen),
        host=options.listen,
        port=options.port,
        workers=workers or options.workers,
        threads=options.threads,
    )


def is_loopback(listen):
    """Return whether only this machine reaches an address or a host name."""
    if listen == 'localhost':
        return True
    try:
        return ipaddress.ip_address(listen.strip('[]')).is_loopback
    except ValueError:
        return False
