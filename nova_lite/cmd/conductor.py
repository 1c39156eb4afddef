"""nova-lite-conductor: the super-conductor, or the conductor of one cell.

`[conductor]super` or the option --super decides which.
"""

import sys

from nova_lite.cmd import daemon
from nova_lite.cmd.wiring import control


def main(argv=None):
    """Run until SIGTERM."""
    argv = list(sys.argv[1:] if argv is None else argv)
    asked = '--super' in argv
    if asked:
        argv.remove('--super')

    def make(conf):
        above = asked or conf.conductor.super
        return control.super_conductor(conf) if above else control.cell_conductor(conf)

    daemon.run(argv, 'nova-lite-conductor', make)


if __name__ == '__main__':
    main()
