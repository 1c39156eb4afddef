"""A connection to MariaDB that does only once what PyMySQL does again and again.

Packets are taken from what has arrived, and results read by `mariadb_results`.

Without settings for TLS, PyMySQL encrypts where the server can, and checks no certificate.
Yet it reads the certificates of all authorities that the system trusts for each connection,
which takes tens of milliseconds. One context serves all these connections.
"""

from collections.abc import Callable
import typing

from pymysql.constants import CR
import sqlalchemy
from sqlalchemy import pool

from nova_lite.dialects import mariadb_results as results
from nova_lite.dialects import writing
from nova_lite.private_apis import pymysql


class Connection(pymysql.connections.Connection):  # type: ignore[misc]  # is not typed
    """The connection of PyMySQL, with its own reader of results and TLS context.

    Its values are converted as PyMySQL does by default (`conv`).
    """

    # The number that the next packet should have.
    _next_seq_id: int
    # Whether BEGIN was sent, and its transaction has not ended.
    _has_begun = False
    # The TLS context of those without settings for TLS.
    _unchecked = None

    def arrived(self) -> bytes:
        """Return what has arrived, at least one byte; nothing if the server has closed.

        Raise OperationalError as PyMySQL does.
        """
        try:
            found: bytes = self._rfile.peek()
        except OSError as error:
            self._force_close()
            raise pymysql.err.OperationalError(
                CR.CR_SERVER_LOST, f'Lost connection to MySQL server during query ({error})'
            ) from error
        except BaseException:
            # The rest of the answer would be taken for another's.
            self._force_close()
            raise
        return found

    def skip(self, size: int, *, packets: int) -> None:
        """Leave out packets that have arrived. size: in bytes, of all of them"""
        self._rfile.read(size)
        self._next_seq_id = (self._next_seq_id + packets) % 256

    def payload(self) -> bytes:
        """Return the content of the next packet. Raise the error that it reports."""
        found = self._taken()
        return super()._read_packet().get_all_data() if found is None else found

    def _taken(self) -> bytes | None:
        """Return the content of the next packet, if it has arrived and is an ordinary one."""
        if self._sock is None or self._sock.gettimeout() != self._read_timeout:
            return None
        arrived = self.arrived()
        size = int.from_bytes(arrived[:3], 'little')
        end = results.HEADER + size
        if (
            not 0 < size < results.LARGEST
            or end > len(arrived)
            or arrived[3] != self._next_seq_id
            or arrived[4] == results.ERROR
        ):
            return None
        self.skip(end, packets=1)
        return arrived[results.HEADER : end]

    def _read_packet(
        self, packet_type: Callable[..., typing.Any] = pymysql.protocol.MysqlPacket
    ) -> typing.Any:
        if packet_type is pymysql.protocol.FieldDescriptorPacket:
            packet_type = results.column
        found = self._taken()
        if found is None:
            return super()._read_packet(packet_type)
        return packet_type(found, self.encoding)

    def _read_query_result(self, unbuffered: bool = False) -> typing.Any:
        if unbuffered:
            return super()._read_query_result(unbuffered)
        self._result = None
        result = results.Result(self)
        result.read()
        self._result = result
        if result.server_status is not None:
            self.server_status = result.server_status
        return result.affected_rows

    def begin(self) -> None:
        """Begin a transaction."""
        super().begin()
        self._has_begun = True

    def commit(self) -> None:
        """Commit the transaction, if there may be one."""
        if self._may_have_begun():
            super().commit()
            self._has_begun = False

    def rollback(self) -> None:
        """Roll the transaction back, if there may be one."""
        if self._may_have_begun():
            super().rollback()
            self._has_begun = False

    def _may_have_begun(self) -> bool:
        return self._has_begun or not self.autocommit_mode

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


def spare_ends(engine: sqlalchemy.Engine) -> None:
    """Make an engine send neither beginnings nor ends of transactions that only read.

    A connection commits each statement by itself, unless a transaction that writes has begun.
    At READ COMMITTED, which the engine must have, a statement sees what is committed when it
    begins, within a transaction as well.
    """
    if engine.dialect.driver != 'pymysql':
        return

    def begin(connection: pool.PoolProxiedConnection) -> None:
        if writing.may_write(connection.info):
            connection.begin()

    engine.dialect.do_begin = begin  # type: ignore[assignment]  # names its argument otherwise

    @sqlalchemy.event.listens_for(engine, 'connect')
    def commit_by_itself(dbapi_connection: Connection, _record: object) -> None:
        dbapi_connection.autocommit(True)
