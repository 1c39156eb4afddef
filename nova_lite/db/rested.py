"""Connections to a server, which are tested only after they were idle.

A test before each use would take a message for each transaction, and a connection that was used a
moment ago is nearly always alive.
"""

import os
import typing

import sqlalchemy
from sqlalchemy import pool

from nova_lite import runtime

# Seconds of idle time after which a connection is tested before its use.
RESTED_S = 1.0


def try_first(engine: sqlalchemy.Engine) -> None:
    """Make an engine test idle connections, and drop connections of a parent process unused.

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
            # The connection of a parent process: neither use nor close it.
            record.dbapi_connection = proxy.dbapi_connection = None
            raise sqlalchemy.exc.DisconnectionError()
        since = record.info.get('rests_since')
        if since is None or runtime.monotonic() - since < RESTED_S:
            return
        try:
            engine.dialect.do_ping(dbapi_connection)
        except engine.dialect.dbapi.Error as error:  # type: ignore[union-attr]  # it is imported
            # Only this connection is replaced. Others may be alive, if a proxy or a firewall has
            # closed the idle one. After a restart of the server each connection fails once.
            raise sqlalchemy.exc.DisconnectionError() from error
