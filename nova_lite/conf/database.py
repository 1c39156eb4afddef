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
        'counts as unavailable. MariaDB and PostgreSQL also end a transaction whose process has sent '
        'nothing for so long, because the locks of a paused process would stop other processes. '
        '0 means no limit. Schema migrations and nova-lite-manage have no limit.',
    ),
]
