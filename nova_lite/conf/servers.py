"""[placement_server], [simcloud]: the neighbour services that are part of nova-lite."""

import os

from oslo_config import cfg

# Limit of placement's default: more processes would wait for the database.
MOST_WORKERS = 4


def _listening(port: int, more: str = '') -> list[cfg.Opt]:
    return [
        cfg.StrOpt('listen', default='127.0.0.1', help='Address to listen on.'),
        cfg.PortOpt('port', default=port, help='Port to listen on.'),
        cfg.IntOpt('threads', default=16, min=1, help=f'Number of threads in each process.{more}'),
        cfg.StrOpt(
            'connection', secret=True, help='SQLAlchemy URL of the database of this service.'
        ),
        cfg.StrOpt(
            'auth_strategy',
            default='keystone',
            choices=('keystone', 'noauth'),
            help='How requests are authenticated; see [api]auth_strategy.',
        ),
    ]


PLACEMENT = [
    *_listening(
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
SIMCLOUD = [
    *_listening(8779),
    cfg.IntOpt(
        'workers',
        default=1,
        min=1,
        help='Number of processes. More than one requires MariaDB or PostgreSQL.',
    ),
    cfg.StrOpt(
        'public_url',
        default='http://127.0.0.1:8774',
        help='Scheme, host and port at which clients reach all services.',
    ),
    cfg.BoolOpt(
        'urls_by_request',
        default=False,
        help='In links and in the catalog, replace the scheme, host and port of public_url by those that '
        'a request of a client names. For a cloud that clients reach at several addresses.',
    ),
    cfg.StrOpt(
        'internal_url',
        help='Scheme, host and port at which services of the cloud reach each other. Unset: '
        'public_url.',
    ),
    cfg.StrOpt(
        'profile',
        default='default',
        help='Behaviour profile of the simulated hosts, of which the network service uses the rules '
        'for ports; see [compute]profile.',
    ),
    cfg.FloatOpt(
        'speed',
        default=1.0,
        min=0.001,
        help='Factor by which ports are plugged faster than the profile says. Values below 1 slow it '
        'down.',
    ),
    cfg.StrOpt(
        'admin_password',
        secret=True,
        help='Password of the user admin, set when the user is created.',
    ),
    cfg.StrOpt(
        'demo_password',
        secret=True,
        help='Password of the user demo, set when the user is created.',
    ),
    cfg.StrOpt(
        'service_password',
        secret=True,
        help='Password of the service users, set when they are created.',
    ),
]


def placement_workers(conf: cfg.ConfigOpts) -> int:
    """Return the number of processes of placement."""
    options = conf.placement_server
    if options.workers is not None:
        return int(options.workers)
    if not options.connection or options.connection.startswith('sqlite'):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(PLACEMENT, group='placement_server')
    conf.register_opts(SIMCLOUD, group='simcloud')


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [('placement_server', PLACEMENT), ('simcloud', SIMCLOUD)]
