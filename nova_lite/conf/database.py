"""[database]: the database of one cell."""

from oslo_config import cfg

GROUP = 'database'
OPTS = [
    cfg.StrOpt(
        'connection',
        secret=True,
        help='SQLAlchemy URL of the cell database. Used by the cell conductor, and by the metadata service'
        ' with [api]local_metadata_per_cell; other daemons read it from the cell mappings.',
    ),
    cfg.IntOpt(
        'connect_timeout',
        default=5,
        min=2,
        help='Seconds to wait for a connection to any database, including the API database.',
    ),
    cfg.IntOpt(
        'read_timeout',
        default=10,
        min=0,
        help='Seconds to wait for the answer of any database to a statement. After that the database '
        'counts as unavailable. 0 means no limit. Schema migrations and nova-lite-manage have no '
        'limit.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
