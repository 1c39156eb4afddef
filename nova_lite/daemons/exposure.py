"""Refuse to run a service that accepts identity headers on an address that is not loopback."""

import ipaddress

from nova_lite.wsgi import server

# What a service listens on that is reached at all addresses, and that of loopback among them.
ANY_ADDRESS = {'0.0.0.0': '127.0.0.1', '::': '::1'}


def problem(auth_strategy, listen):
    """Return why a service must not listen on an address, or None.

    auth_strategy: keystone or noauth; listen: an address or a host name
    """
    if auth_strategy != 'noauth' or is_loopback(listen):
        return None
    return (
        f'With noauth every client that reaches {listen} is an administrator: the headers '
        'X-User-Id, X-Project-Id and X-Roles are accepted without a check. Listen on 127.0.0.1, '
        'or use keystone.'
    )


def require_safe(options):
    """Exit unless the service may listen on the address in `options`."""
    found = problem(options.auth_strategy, options.listen)
    if found is not None:
        raise SystemExit(found)


def serve(load_application, options, *, workers=None):
    """Serve what `load_application()` returns until SIGTERM, where it is safe to do so.

    options: listen, port, workers, threads and auth_strategy of the service
    workers: number of processes; None: that of the options
    """
    require_safe(options)
    server.serve(
        load_application,
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
