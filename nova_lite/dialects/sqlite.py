"""SQLAlchemy's dialect of SQLite, with transactions that begin as we want them to.

A transaction that writes takes the lock of the file when it begins: one that begins by
reading cannot wait for the lock later. The dialect begins it. An event of the engine
could as well, but an engine with events runs all of them for each statement.
"""

import sqlalchemy as sa
from sqlalchemy import dialects
from sqlalchemy import pool
from sqlalchemy.dialects.sqlite import pysqlite

from nova_lite.dialects import writing

# Arguments of connections. The read of a server takes ten times as long when its statement has
# to be prepared, and by default the driver keeps 128 statements.
ARGUMENTS = {'timeout': 30, 'check_same_thread': False, 'cached_statements': 512}
_DRIVER = 'nova_lite'


class Dialect(pysqlite.dialect):
    """Begins transactions; the driver must not, so set its `isolation_level` to None."""

    supports_statement_cache = True

    def begin(self, dbapi_connection: pool.PoolProxiedConnection) -> None:
        """Begin a transaction on a connection of the pool."""
        cursor = dbapi_connection.cursor()
        cursor.execute('BEGIN IMMEDIATE' if writing.may_write(dbapi_connection.info) else 'BEGIN')
        cursor.close()

    # SQLAlchemy's name for it.
    do_begin = begin


dialects.registry.register(f'sqlite.{_DRIVER}', __name__, Dialect.__name__)


def with_dialect(url: sa.URL) -> sa.URL:
    """Return a URL (sqlalchemy's) of an SQLite database with this dialect."""
    return url.set(drivername=f'sqlite+{_DRIVER}')
