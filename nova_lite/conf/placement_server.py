"""[placement_server]: the placement service that is part of nova-lite."""

import os

from oslo_config import cfg

from nova_lite.conf import listening

# Limit of placement's default: more processes would wait for the database.
MOST_WORKERS = 4

GROUP = 'placement_server'
OPTS = [
    *listening.options(
        8778,
        ' A process opens at most two connections to its database for each thread, and four more;'
        ' max_connections of the database server must allow for those of all processes.',
    ),
    cfg.IntOpt(
        'workers',
        min=1,
        sample_default='<number of CPUs, at most 4>',
        help='Number of processes, each of which takes about 70 MiB of memory. More than one requires '
        'MariaDB or PostgreSQL. Unset: one with SQLite, else the number of CPUs that '
        'nova-lite-placement may use, at most 4.',
    ),
]


def workers(conf: cfg.ConfigOpts) -> int:
    """Return the number of processes of placement."""
    options = conf.placement_server
    if options.workers is not None:
        return int(options.workers)
    if not options.connection or options.connection.startswith('sqlite'):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)
