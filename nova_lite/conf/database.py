"""[database]: the database of one cell."""

from oslo_config import cfg

GROUP = 'database'
OPTS = [
    cfg.StrOpt(
        'connection',
        secret=True,
        help='SQLAlchemy URL of the cell database: read by the cell conductor only; '
        'others find it in the cell mappings.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=2,
        help='Seconds to wait for a connection to any database, that of the API included.',
    ),
    cfg.IntOpt(
        'read_timeout',
        default=10,
        min=0,
        help='Seconds any database may take to answer a statement before it counts as not '
        'available; 0 waits for ever. Changes of a schema and nova-lite-manage wait for ever.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
