"""nova-lite-simcloud: stand-ins for Keystone, Glance, Neutron and Cinder."""

import sys

from nova_lite.daemons import exposure
from nova_lite.daemons import process
from nova_lite.daemons import simcloud
from nova_lite.wsgi import server


def main(argv=None):
    """Serve until SIGTERM."""
    argv = sys.argv[1:] if argv is None else argv
    conf = process.configure(argv, 'nova-lite-simcloud')
    options = conf.simcloud
    exposure.require_safe(options)
    server.serve(
        lambda: simcloud.application(conf),
        host=options.listen,
        port=options.port,
        workers=options.workers,
        threads=options.threads,
    )


if __name__ == '__main__':
    main()
