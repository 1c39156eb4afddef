"""nova-lite-compute: the compute daemon in a process of its own."""

from collections.abc import Sequence

from oslo_config import cfg

from nova_lite.daemons import compute
from nova_lite.daemons import lifetime
from nova_lite.daemons import process

PROG = 'nova-lite-compute'


def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[object]:
    """Return the daemon for a configuration. Exit if it names a database."""
    compute.refuse_databases(conf, PROG)
    return compute.make(conf)


def main(argv: Sequence[str] | None = None) -> None:
    """Run until SIGTERM."""
    process.run(argv, PROG, make)


if __name__ == '__main__':
    main()
