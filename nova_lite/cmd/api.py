"""nova-lite-api: the compute API, and whatever [api]proxies puts beside it on its port."""

import sys

from nova_lite.cmd import daemon
from nova_lite.cmd import exposure
from nova_lite.cmd import monitor
from nova_lite.cmd.wiring import frontend
from nova_lite.wsgi import front
from nova_lite.wsgi import proxy
from nova_lite.wsgi import server


def application(conf):
    """The WSGI callable that this configuration asks for."""
    compute = frontend.api(conf)
    monitor.serve(conf, [frontend.watched_api(compute.app)], workers=conf.api.workers)
    if not conf.api.proxies:
        return compute
    routes = proxy.services(conf.api.proxies, conf.api.threads)
    return front.Front(
        {**routes, '/compute': compute}, keep=('/identity', '/image', '/network', '/volume')
    )


def main(argv=None):
    """Serve until SIGTERM."""
    argv = sys.argv[1:] if argv is None else argv
    conf = daemon.configure(argv, 'nova-lite-api')
    exposure.require_safe(conf.api)
    # Connections must not be shared with the parent: each worker builds its own.
    server.serve(
        lambda: application(daemon.configure(argv, 'nova-lite-api')),
        host=conf.api.listen,
        port=conf.api.port,
        workers=conf.api.workers,
        threads=conf.api.threads,
    )


if __name__ == '__main__':
    main()
