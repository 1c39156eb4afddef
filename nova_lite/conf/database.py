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
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
