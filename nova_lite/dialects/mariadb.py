"""A connection to MariaDB that does only once what PyMySQL does again and again.

The server describes the columns of every result, and PyMySQL takes each description
apart in Python: for a row of many columns that is half of the work. What is made of a
description depends on its bytes alone, so the same bytes are taken apart once.

Without settings for TLS, PyMySQL encrypts where the server can, and checks no certificate.
Yet it reads the certificates of all authorities that the system trusts for each connection,
which takes tens of milliseconds. One context serves all these connections.
"""

from collections.abc import Callable
import functools
import typing

import sqlalchemy

from nova_lite.private_apis import pymysql

# Columns of all statements of a process, with room for those that come seldom.
KNOWN = 4096


class Connection(pymysql.connections.Connection):  # type: ignore[misc]  # is not typed
    """The connection of PyMySQL, with its own parser of columns and TLS context."""

    # The TLS context of those without settings for TLS.
    _unchecked = None

    def _read_packet(
        self, packet_type: Callable[..., typing.Any] = pymysql.protocol.MysqlPacket
    ) -> typing.Any:
        if packet_type is pymysql.protocol.FieldDescriptorPacket:
            packet_type = column
        return super()._read_packet(packet_type)

    def _create_ssl_ctx(self, sslp: dict[str, typing.Any]) -> typing.Any:
        if sslp:
            return super()._create_ssl_ctx(sslp)
        if Connection._unchecked is None:
            Connection._unchecked = super()._create_ssl_ctx(sslp)
        return Connection._unchecked


def use(engine: sqlalchemy.Engine) -> None:
    """Make an engine create connections of this class, if its driver is PyMySQL."""
    if engine.dialect.driver == 'pymysql':

        @sqlalchemy.event.listens_for(engine, 'do_connect')
        def make(
            _dialect: sqlalchemy.Dialect,
            _record: object,
            args: list[typing.Any],
            options: dict[str, typing.Any],
        ) -> Connection:
            return Connection(*args, **options)


@functools.lru_cache(maxsize=KNOWN)
def column(data: bytes, encoding: str) -> typing.Any:
    """Return the description of a column in a packet; shared, and never changed by its readers."""
    return pymysql.protocol.FieldDescriptorPacket(data, encoding)
