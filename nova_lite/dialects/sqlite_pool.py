"""A pool of connections to SQLite that closes idle connections.

A connection holds some hundred KiB: prepared statements, the schema, and pages. After a busy
moment far fewer connections are needed.
"""

import typing

from sqlalchemy import pool

from nova_lite import runtime
from nova_lite.private_apis import sqlalchemy as internals

# Seconds of idle time after which a connection is closed, when another connection is returned.
REST_S = 10.0
# In the `info` of a connection: when it was returned.
_RESTS_SINCE = 'nova_lite_rests_since'


class Pool(pool.QueuePool):
    """Returns the connection that idled least. One stays open, because the last closes the file."""

    def __init__(self, *args: typing.Any, **options: typing.Any) -> None:
        super().__init__(*args, **{**options, 'use_lifo': True})

    def _do_return_conn(self, record: pool.ConnectionPoolEntry) -> None:
        now = runtime.monotonic()
        record.info[_RESTS_SINCE] = now
        super()._do_return_conn(record)
        internals.close_first(self, lambda found: now - found.info[_RESTS_SINCE] > REST_S)
