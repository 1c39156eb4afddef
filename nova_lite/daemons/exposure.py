"""Refuse to run a service that accepts identity headers on an address that is not loopback."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
import ipaddress
import os
import sys
from wsgiref import types as wsgi

from oslo_config import cfg

from nova_lite import exception
from nova_lite.daemons import local_requests
from nova_lite.daemons import process
from nova_lite.daemons.wsgi import answers
from nova_lite.daemons.wsgi import paths
from nova_lite.daemons.wsgi import server

# {address with which a service listens on all addresses: its address of loopback}
ANY_ADDRESS = {'0.0.0.0': '127.0.0.1', '::': '::1'}
NOAUTH = 'noauth'


class Exposed(exception.Invalid):
    msg = '%(reason)s'


def problem(auth_strategy: str, listen: str) -> str | None:
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


def require_safe(auth_strategies: Iterable[str], listen: str) -> None:
    """Raise Exposed unless services with all these auth_strategies may listen on an address."""
    for each in auth_strategies:
        found = problem(each, listen)
        if found is not None:
            raise Exposed(reason=found)


def protected(
    application: wsgi.WSGIApplication, auth_strategies: Collection[str], listen: str
) -> wsgi.WSGIApplication:
    """Return the application, guarded if one of its services has noauth.

    Raise Exposed if the services may not listen on the address `listen`.
    """
    require_safe(auth_strategies, listen)
    return Guarded(application) if NOAUTH in auth_strategies else application


def plain(
    application: wsgi.WSGIApplication, options: cfg.ConfigOpts.GroupAttr
) -> wsgi.WSGIApplication:
    """Return the application for another server, such as uWSGI or mod_wsgi.

    Raise Exposed if the service may not listen on its address.

    options: auth_strategy and listen of the service
    """
    return paths.Decoded(protected(application, {options.auth_strategy}, options.listen))


class Guarded(answers.Layer):
    """A layer that serves only programs of this machine, and no pages of other sites."""

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        found = _problem(environ)
        if found is None:
            return self._application(environ, start_response)
        return answers.refuse(start_response, '403 Forbidden', found)


def _problem(environ: wsgi.WSGIEnvironment) -> str | None:
    """Return why a request is refused, or None. Requests over a local socket have no address."""
    address = environ.get('REMOTE_ADDR')
    if address and not is_loopback(address):
        return 'With noauth only requests of this machine are served.'
    return local_requests.problem(environ)


def serve(
    load_application: Callable[[], wsgi.WSGIApplication],
    options: cfg.ConfigOpts.GroupAttr,
    *,
    workers: int | None = None,
) -> None:
    """Serve the result of `load_application()` until SIGTERM. Exit if that is not safe.

    options: listen, port, workers, threads and auth_strategy of the service
    workers: number of processes; None: options.workers
    """
    try:
        require_safe({options.auth_strategy}, options.listen)
    except Exposed as error:
        process.refuse(os.path.basename(sys.argv[0]), error)
    server.serve(
        lambda: protected(load_application(), {options.auth_strategy}, options.listen),
        host=options.listen,
        port=options.port,
        workers=workers or options.workers,
        threads=options.threads,
    )


def is_loopback(listen: str) -> bool:
    """Return whether only this machine can reach an address or a host name."""
    if listen == 'localhost':
        return True
    try:
        return ipaddress.ip_address(listen.strip('[]')).is_loopback
    except ValueError:
        return False
