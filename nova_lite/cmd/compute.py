"""nova-lite-compute: the compute daemon in a process of its own."""

import sys

from nova_lite.daemons import compute
from nova_lite.daemons import process

PROG = 'nova-lite-compute'


def make(conf):
    """Return the daemon that `conf` asks for."""
    compute.refuse_databases(conf, PROG)
    return compute.make(conf)


def main(argv=None):
    """Run until SIGTERM."""
    process.run(sys.argv[1:] if argv is None else argv, PROG, make)


if __name__ == '__main__':
    main()
