"""nova-lite-simcloud: stand-ins for Keystone, Glance, Neutron, Cinder and Manila."""

import sys

from nova_lite.daemons import exposure
from nova_lite.daemons import process
from nova_lite.daemons import simcloud


def main(argv=None):
    """Serve until SIGTERM."""
    argv = sys.argv[1:] if argv is None else argv
    conf = process.configure(argv, 'nova-lite-simcloud')
    exposure.serve(lambda: simcloud.application(conf), conf.simcloud)


if __name__ == '__main__':
    main()
