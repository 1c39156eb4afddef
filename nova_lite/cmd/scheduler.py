"""nova-lite-scheduler: the scheduler daemon in a process of its own."""

import sys

from nova_lite.cmd import daemon
from nova_lite.cmd.wiring import control


def main(argv=None):
    """Run until SIGTERM."""
    daemon.run(sys.argv[1:] if argv is None else argv, 'nova-lite-scheduler', control.scheduler)


if __name__ == '__main__':
    main()
