"""nova-lite-scheduler: the scheduler daemon in a process of its own."""

import sys

from nova_lite.daemons import process
from nova_lite.daemons import scheduler


def main(argv=None):
    """Run until SIGTERM."""
    process.run(sys.argv[1:] if argv is None else argv, 'nova-lite-scheduler', scheduler.make)


if __name__ == '__main__':
    main()
