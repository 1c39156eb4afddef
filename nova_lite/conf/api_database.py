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
