"""Pools of connections to SQLite whose idle connections are closed.

A connection holds some hundred KiB: prepared statements, the schema, and pages. After a busy
moment far fewer connections are needed.
"""

import sqlalchemy as sa
from sqlalchemy import pool

from nova_lite import runtime

# Seconds of idle time after which a connection is closed, when another connection is returned.
REST_S = 10.0


class Resting:
    """The connections of a pool that nobody uses."""

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        # {entry of the pool: when its connection was returned}. The first has idled most.
        self._since: dict[pool.ConnectionPoolEntry, float] = {}

    def returned(self, _connection: object, entry: pool.ConnectionPoolEntry) -> None:
        """Close the connections that have idled for long, but not the one that is returned.

        The last connection closes the file. The pool opens a new one for an entry without.
        """
        now = runtime.monotonic()
        with self._lock:
            for found, since in list(self._since.items()):
                if now - since <= REST_S:
                    break
                del self._since[found]
                found.close()
            self._since[entry] = now

    def taken(self, connection: object, entry: pool.ConnectionPoolEntry, _proxy: object) -> None:
        """Make the pool open a new connection if this one was closed while it was taken."""
        with self._lock:
            self._since.pop(entry, None)
            if connection is None or entry.dbapi_connection is not connection:
                raise sa.exc.DisconnectionError('The connection was closed')


def close_rested(of: pool.Pool) -> None:
    """Make a pool close idle connections. It should use the one that idled least (`use_lifo`)."""
    resting = Resting()
    sa.event.listen(of, 'checkin', resting.returned)
    sa.event.listen(of, 'checkout', resting.taken)
