"""nova-lite-compute: the compute daemon in a process of its own."""

import sys

from nova_lite.cmd import daemon
from nova_lite.cmd.wiring import hosts

PROG = 'nova-lite-compute'


def refuse_databases(conf):
    """End the process if `conf` names a database.

    A host that is broken into must not give away a database, so it may not know one.
    """
    for group in ('database', 'api_database'):
        if conf[group].connection:
            place = conf.get_location('connection', group=group)
            daemon.refuse(
                PROG,
                f'[{group}]connection is set ({place.detail}). '
                'Computes have no access to databases: they report to the conductor of '
                'their cell. Remove it from the files that this daemon reads.',
            )


def make(conf):
    """The daemon that `conf` asks for."""
    refuse_databases(conf)
    return hosts.compute(conf)


def main(argv=None):
    """Run until SIGTERM."""
    daemon.run(sys.argv[1:] if argv is None else argv, PROG, make)


if __name__ == '__main__':
    main()
