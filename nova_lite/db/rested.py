"""Connections to a server, which are tried only after they have rested.

To try each connection before each use takes a message for each transaction. A connection
that was used a moment ago is alive as a rule.
"""

import os
import typing

import sqlalchemy
from sqlalchemy import pool

from nova_lite import runtime

# A connection that rested longer is tried before it is used.
RESTED_S = 1.0


def try_first(engine: sqlalchemy.Engine) -> None:
    """Make an engine try connections that have rested, and leave alone those of a parent process.

    The engine has no connections yet, or they are disposed of before the next use.
    """

    @sqlalchemy.event.listens_for(engine, 'connect')
    def made(_dbapi_connection: object, record: pool.ConnectionPoolEntry) -> None:
        record.info['process'] = os.getpid()

    @sqlalchemy.event.listens_for(engine, 'checkin')
    def returned(_dbapi_connection: object, record: pool.ConnectionPoolEntry) -> None:
        record.info['rests_since'] = runtime.monotonic()

    @sqlalchemy.event.listens_for(engine, 'checkout')
    def taken(dbapi_connection: typing.Any, record: typing.Any, proxy: typing.Any) -> None:
        if record.info['process'] != os.getpid():
            # A parent's: left to it, neither used nor closed.
            record.dbapi_connection = proxy.dbapi_connection = None
            raise sqlalchemy.exc.DisconnectionError()
        since = record.info.get('rests_since')
        if since is None or runtime.monotonic() - since < RESTED_S:
            return
        try:
            engine.dialect.do_ping(dbapi_connection)
        except engine.dialect.dbapi.Error as error:  # type: ignore[union-attr]  # it is imported
            # Only this one is replaced. Others may live: a proxy or a firewall has closed the
            # one that rested for long. After a restart of the server each fails once.
            raise sqlalchemy.exc.DisconnectionError() from error
