"""nova-lite-placement: the real placement service, served by us."""

import sys

from nova_lite.daemons import exposure
from nova_lite.daemons import placement
from nova_lite.daemons import process
from nova_lite.wsgi import server


def main(argv=None):
    """Serve until SIGTERM."""
    argv = sys.argv[1:] if argv is None else argv
    conf = process.configure(argv, 'nova-lite-placement')
    options = conf.placement_server
    exposure.require_safe(options)
    server.serve(
        lambda: placement.application(conf),
        host=options.listen,
        port=options.port,
        workers=options.workers,
        threads=options.threads,
    )


if __name__ == '__main__':
    main()
