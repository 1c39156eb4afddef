"""A pool of connections to SQLite that takes no lock.

A transaction takes four locks to take a connection from QueuePool and to return it, with the
listeners that close idle ones: an eighth of all scheduling points. Threads that race for the
connection of a pool do not race for anything in the database.
"""

import collections

from sqlalchemy import pool

from nova_lite import runtime
from nova_lite.dialects import sqlite_pool


class Pool(pool.QueuePool):
    """Connections of which the one that idled least is used next. It has no maximum size.

    Connections that have idled for as long as `sqlite_pool` lets them are closed when another one
    is returned.
    """

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        # (entry, when it was returned). The first has idled most.
        self._idle = collections.deque()

    def _do_get(self):
        return self._idle.pop()[0] if self._idle else self._create_connection()

    def _do_return_conn(self, record):
        now = runtime.monotonic()
        while self._idle and now - self._idle[0][1] > sqlite_pool.REST_S:
            self._idle.popleft()[0].close()
        self._idle.append((record, now))

    def dispose(self):
        """Close the idle connections."""
        while self._idle:
            self._idle.pop()[0].close()
