"""Results of MariaDB, read with less work for each packet, column and row than PyMySQL takes.

The server describes the columns of every result, and PyMySQL takes each description apart in
Python: for a row of many columns that is half of the work. What is made of descriptions
depends on their bytes alone, so those of a statement are taken apart once.
"""

from collections.abc import Sequence
import datetime
import functools
import typing

from nova_lite.private_apis import pymysql

# Columns of all statements of a process, with room for those that come seldom.
KNOWN_COLUMNS = 4096
# Results with different columns that a process remembers, of some KiB each.
KNOWN_RESULTS = 1024
# Bytes before each packet: three of its size, and its number.
HEADER = 4
# A larger packet goes on in the next.
LARGEST = (1 << 24) - 1
END, ERROR = 0xFE, 0xFF
# First bytes of a value that has no single byte for its size, and how many bytes have it.
NULL, LONGER = 0xFB, {0xFC: 2, 0xFD: 3, 0xFE: 8}

# For each column, the encoding of its text (or None), and what converts it (or None).
Converters: typing.TypeAlias = Sequence[tuple[str | None, typing.Any]]


class Columns(typing.NamedTuple):
    """Columns of a result, from their descriptions. packets: the descriptions as they arrived"""

    packets: bytes
    fields: list[typing.Any]
    converters: Converters
    description: tuple[typing.Any, ...]


# By encoding, number of the first packet, number of columns and description of the first.
_known: dict[tuple[typing.Any, ...], list[Columns]] = {}


class Result(pymysql.connections.MySQLResult):  # type: ignore[misc]  # is not typed
    """A result that is read at once. Its connection is a mariadb.Connection."""

    converters: Converters

    def _get_descriptions(self) -> None:
        connection = self.connection
        arrived = connection.arrived()
        key = (
            connection.encoding,
            connection.use_unicode,
            self.field_count,
            arrived[: _end(arrived, 1)],
        )
        for columns in _known.get(key, ()):
            if arrived.startswith(columns.packets):
                break
        else:
            super()._get_descriptions()
            self.converters = [_faster(*each) for each in self.converters]
            self._remember(key, arrived[: _end(arrived, self.field_count)])
            return
        connection.skip(len(columns.packets), packets=self.field_count)
        _packets, self.fields, self.converters, self.description = columns
        if not _is_end(connection.payload()):
            raise pymysql.err.InternalError('The columns of a result do not end')

    def _remember(self, key: tuple[typing.Any, ...], packets: bytes) -> None:
        """Remember the columns of this result, unless they had not arrived as a whole."""
        if not packets:
            return
        # A copy: other threads add to it meanwhile.
        if sum(map(len, list(_known.values()))) >= KNOWN_RESULTS:
            _known.clear()
        columns = Columns(packets, self.fields, self.converters, self.description)
        _known.setdefault(key, []).append(columns)

    def _read_rowdata_packet(self) -> None:
        payload, packets = self.connection.payload, []
        while not _is_end(data := payload()):
            packets.append(data)
        self._check_packet_is_eof(pymysql.protocol.MysqlPacket(data, None))
        # Nothing is left to read by now, if a value cannot be converted.
        self.rows = tuple([_row(each, self.converters) for each in packets])
        self.affected_rows = len(packets)


@functools.lru_cache(maxsize=KNOWN_COLUMNS)
def column(data: bytes, encoding: str) -> typing.Any:
    """Return the description of a column in a packet; shared, and never changed by its readers."""
    return pymysql.protocol.FieldDescriptorPacket(data, encoding)


def _end(arrived: bytes, packets: int) -> int:
    """Return where the first packets end; 0 unless all have arrived."""
    end = 0
    for _packet in range(packets):
        end += HEADER + int.from_bytes(arrived[end : end + 3], 'little')
    return end if end <= len(arrived) else 0


def _is_end(data: bytes) -> bool:
    # The size of a large value begins with the same byte.
    return data[0] == END and len(data) < 9


def _row(data: bytes, converters: Converters) -> tuple[typing.Any, ...]:
    """Return the values of a row in a packet."""
    found: list[typing.Any] = []
    at = 0
    for encoding, convert in converters:
        size = data[at]
        at += 1
        if size >= NULL:
            if size == NULL:
                found.append(None)
                continue
            start, at = at, at + LONGER[size]
            size = int.from_bytes(data[start:at], 'little')
        value: typing.Any = data[at : at + size]
        at += size
        if encoding is not None:
            value = value.decode(encoding)
        found.append(value if convert is None else convert(value))
    if at != len(data):
        raise pymysql.err.InternalError('A row and its columns do not have the same size')
    return tuple(found)


def _faster(encoding: str | None, convert: typing.Any) -> tuple[str | None, typing.Any]:
    """Return converters of a column that return the same as PyMySQL's."""
    if convert in (int, float):
        # They read ASCII themselves.
        return None, convert
    if encoding is not None and convert is pymysql.converters.convert_datetime:
        return encoding, _datetime
    return encoding, convert


def _datetime(text: str) -> datetime.datetime | str:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        # Zeros, which are no date.
        found: str = pymysql.converters.convert_datetime(text)
        return found
