"""[api_database]: the database that all cells share."""

from oslo_config import cfg

GROUP = 'api_database'
OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'connection',
        secret=True,
        help='SQLAlchemy URL of the API database. Never set on a compute or a cell conductor.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
