"""nova-lite-conductor: the super-conductor, or the conductor of one cell.

`[conductor]super` or the option --super selects the super-conductor.
"""

from collections.abc import Sequence
import sys

from oslo_config import cfg

from nova_lite.daemons import conductor
from nova_lite.daemons import lifetime
from nova_lite.daemons import process
from nova_lite.daemons import super_conductor


def main(argv: Sequence[str] | None = None) -> None:
    """Run until SIGTERM."""
    argv = list(sys.argv[1:] if argv is None else argv)
    asked = '--super' in argv
    if asked:
        argv.remove('--super')

    def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[object]:
        above = asked or conf.conductor.super
        return super_conductor.make(conf) if above else conductor.make(conf)

    process.run(argv, 'nova-lite-conductor', make)


if __name__ == '__main__':
    main()
