"""nova-lite-simcloud: stand-ins for Keystone, Glance, Neutron and Cinder."""

import sys

from nova_lite.cmd import daemon
from nova_lite.cmd import exposure
from nova_lite.cmd import monitor
from nova_lite.db import engine
from nova_lite.monitoring import databases
from nova_lite.simcloud import app
from nova_lite.wsgi import server


def application(conf):
    """The four services, as this configuration asks for them."""
    options = conf.simcloud
    services = app.make_app(
        options.connection,
        options.public_url,
        options={
            'auth': options.auth_strategy,
            'compute_events': True,
            'internal_url': options.internal_url,
            'admin_password': options.admin_password,
            'demo_password': options.demo_password,
            'service_password': options.service_password,
        },
    )
    # Last: threads that serve would keep alive a worker whose application cannot be made.
    database = engine.Database(options.connection, threads=1)
    watched = monitor.Service('simcloud', {'database': databases.answers(database)})
    monitor.serve(conf, [watched], workers=options.workers)
    return services


def main(argv=None):
    """Serve until SIGTERM."""
    argv = sys.argv[1:] if argv is None else argv
    conf = daemon.configure(argv, 'nova-lite-simcloud')
    options = conf.simcloud
    exposure.require_safe(options)
    server.serve(
        lambda: application(conf),
        host=options.listen,
        port=options.port,
        workers=options.workers,
        threads=options.threads,
    )


if __name__ == '__main__':
    main()
