"""Results of MariaDB are what PyMySQL reads of the same bytes, however they arrive."""

import io
import socket
import struct

import hypothesis
from hypothesis import strategies as st
from pymysql import connections
from pymysql import err
from pymysql import protocol
import testtools

from nova_lite.dialects import mariadb
from nova_lite.dialects import mariadb_results

UTF8, BINARY = 45, 63
DECIMAL, LONG, DOUBLE, DATETIME, JSON, BLOB, TEXT = 246, 3, 5, 12, 245, 252, 253
END, MORE = b'\xfe\0\0\2\0', b'\xfe\1\0\x0a\0'
DONE = b'\0\3\7\2\0\1\0'
LOST = b'\xff\x25\x05#70100Query execution was interrupted'
FIELDS = (
    'affected_rows',
    'insert_id',
    'server_status',
    'warning_count',
    'has_next',
    'message',
    'field_count',
    'description',
    'rows',
)


def described(name, kind, charset=UTF8):
    """Return the packet that describes a column. kind: MySQL's number of its type"""
    words = b'def', b'cell1', b'instances', b'instances', name, name
    text = b''.join(bytes([len(word)]) + word for word in words)
    return text + struct.pack('<xHIBHBxx', charset, 255, kind, 0, 0)


def coded(value):
    """Return a value (bytes, or None) as a row has it."""
    if value is None:
        return b'\xfb'
    size = len(value)
    if size < 251:
        return bytes([size]) + value
    if size < 1 << 16:
        return b'\xfc' + struct.pack('<H', size) + value
    return b'\xfd' + struct.pack('<I', size)[:3] + value


def sent(packets, first=1):
    """Return packets with their headers. first: the number of the first"""
    return b''.join(
        struct.pack('<I', len(packet))[:3] + bytes([(first + number) % 256]) + packet
        for number, packet in enumerate(packets)
    )


def result(columns, rows, end=END):
    """Return the packets of a result. columns: descriptions; rows: lists of bytes or None"""
    count = bytes([len(columns)])
    return [count, *columns, END, *(b''.join(map(coded, row)) for row in rows), end]


class Arriving(io.RawIOBase):
    """Bytes that arrive in pieces, and then an end or an error."""

    def __init__(self, pieces, error=None):
        self._pieces, self._error = [piece for piece in pieces if piece], error

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._pieces:
            if self._error is not None:
                raise self._error
            return 0
        piece = self._pieces.pop(0)
        taken = piece[: len(buffer)]
        if piece[len(taken) :]:
            self._pieces.insert(0, piece[len(taken) :])
        buffer[: len(taken)] = taken
        return len(taken)


class Case(testtools.TestCase):
    def setUp(self):
        super().setUp()
        mariadb_results._known.clear()
        self._socket, other = socket.socketpair()
        self.addCleanup(self._socket.close)
        self.addCleanup(other.close)

    def connection(self, kind, pieces, error=None):
        """Return a connection that has sent a statement, and to which an answer arrives."""
        made = kind(defer_connect=True, ssl_disabled=True)
        made._sock, made._current_timeout = self._socket.dup(), None
        self.addCleanup(made._force_close)
        made._rfile = io.BufferedReader(Arriving(pieces, error))
        made._next_seq_id, made.server_status = 1, 0
        return made

    def read(self, kind, pieces, error=None):
        """Return what a class of connections makes of an answer, or the error it raises."""
        made = self.connection(kind, pieces, error)
        try:
            made._read_query_result()
        except err.MySQLError as raised:
            return type(raised), raised.args, made._sock is None
        found = {name: getattr(made._result, name) for name in FIELDS}
        return found, made.server_status, made._next_seq_id

    def same(self, pieces, error=None):
        """Require the same of both classes, twice of ours; return it."""
        pieces = list(pieces)
        wanted = self.read(connections.Connection, pieces, error)
        for _again in range(2):
            self.assertEqual(wanted, self.read(mariadb.Connection, pieces, error))
        return wanted


class ResultTest(Case):
    columns = (
        described(b'host', TEXT),
        described(b'id', LONG, BINARY),
        described(b'at', DATETIME, BINARY),
        described(b'load', DOUBLE, BINARY),
        described(b'sum', DECIMAL, BINARY),
        described(b'key', BLOB, BINARY),
        described(b'facts', JSON, BINARY),
    )
    row = (
        'Zürich'.encode(),
        b'-7',
        b'2026-11-28 10:11:12.123456',
        b'1.5e3',
        b'1.50',
        b'\xff',
        b'{}',
    )

    def test_values_of_each_type(self):
        found, _status, _number = self.same([sent(result(self.columns, [self.row]))])
        self.assertEqual('Zürich', found['rows'][0][0])
        self.assertEqual(-7, found['rows'][0][1])
        self.assertEqual(123456, found['rows'][0][2].microsecond)

    def test_known_columns_are_not_taken_apart(self):
        packets = [sent(result(self.columns, [self.row]))]
        first, again = (self.connection(mariadb.Connection, packets) for _each in range(2))
        first._read_query_result()
        again._read_query_result()
        self.assertIs(first._result.description, again._result.description)

    def test_instants(self):
        texts = (
            b'2026-11-28 10:11:12',
            b'2026-11-28 10:11:12.5',
            b'2026-11-28 10:11:12.000120',
            b'0001-01-01 00:00:00',
            b'9999-12-31 23:59:59.999999',
            b'0000-00-00 00:00:00',
            b'0000-00-00 00:00:00.000000',
            b'2026-02-00 00:00:00',
        )
        column = described(b'at', DATETIME, BINARY)
        self.same([sent(result([column], [[text] for text in texts]))])

    def test_no_rows(self):
        self.same([sent(result(self.columns, []))])

    def test_columns_that_begin_alike(self):
        for kind in (TEXT, LONG, BLOB):
            columns = [described(b'host', TEXT), described(b'node', kind)]
            self.same([sent(result(columns, [[b'1', b'2']]))])
        self.assertEqual([3], [len(each) for each in mariadb_results._known.values()])

    def test_sizes_of_values(self):
        columns = [described(b'one', TEXT), described(b'two', TEXT)]
        for size in (0, 1, 250, 251, 252, 65535, 65536, 70000):
            self.same([sent(result(columns, [[b'x' * size, None], [None, b'y' * size]]))])

    def test_rows_larger_than_a_packet(self):
        large = b'\xfd' + struct.pack('<I', mariadb_results.LARGEST)[:3]
        row = large + b'z' * mariadb_results.LARGEST
        packets = result([described(b'one', TEXT)], [])
        parts = row[: mariadb_results.LARGEST], row[mariadb_results.LARGEST :]
        found, _status, _number = self.same([sent([*packets[:-1], *parts, packets[-1]])])
        self.assertEqual(mariadb_results.LARGEST, len(found['rows'][0][0]))

    def test_more_columns_than_packets_have_numbers(self):
        columns = [described(b'c%d' % number, LONG) for number in range(300)]
        packets = result(columns[:1], [[b'1'] * 300])
        packets[:2] = [b'\xfc' + struct.pack('<H', 300), *columns]
        self.same([sent(packets)])

    def test_another_result_after_the_first(self):
        text = sent([*result(self.columns, [self.row], MORE), *result(self.columns[:2], [])])
        made = self.connection(mariadb.Connection, [text])
        made._read_query_result()
        self.assertTrue(made._result.has_next)
        made.next_result()
        self.assertEqual(2, len(made._result.description))
        self.assertFalse(made._result.has_next)

    def test_statements_without_rows(self):
        found, status, _number = self.same([sent([DONE])])
        self.assertEqual((3, 7, 2), (found['affected_rows'], found['insert_id'], status))

    @hypothesis.settings(deadline=None, max_examples=60)
    @hypothesis.given(
        st.lists(st.lists(st.one_of(st.none(), st.text()), min_size=2, max_size=2), max_size=5),
        st.lists(st.integers(0, 400), max_size=6),
    )
    def test_any_texts_in_any_pieces(self, rows, cuts):
        columns = [described(b'one', TEXT), described(b'two', TEXT)]
        rows = [[text if text is None else text.encode() for text in row] for row in rows]
        text = sent(result(columns, rows))
        ends = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
        pieces = [text[begin:end] for begin, end in zip(ends, ends[1:], strict=False)]
        self.same(pieces)


class ErrorTest(Case):
    packets = tuple(result([described(b'one', TEXT), described(b'two', LONG)], [[b'a', b'1']] * 2))

    def test_errors_of_the_server(self):
        for before in (0, 4, 5):
            error, args, closed = self.same([sent([*self.packets[:before], LOST])])
            self.assertEqual((err.OperationalError, 1317), (error, args[0]))
            self.assertFalse(closed)

    def test_connections_that_end(self):
        text = sent(self.packets)
        for size in range(len(text)):
            error, args, closed = self.same([text[:size]])
            self.assertEqual((err.OperationalError, 2013, True), (error, args[0], closed))

    def test_connections_that_fail(self):
        text = sent(self.packets)
        for size in range(len(text)):
            error, args, closed = self.same([text[:size]], TimeoutError('timed out'))
            self.assertEqual((err.OperationalError, 2013, True), (error, args[0], closed))

    def test_interrupted_reads_close_the_connection(self):
        made = self.connection(mariadb.Connection, [sent(self.packets)[:50]], KeyboardInterrupt())
        self.assertRaises(KeyboardInterrupt, made._read_query_result)
        self.assertIsNone(made._sock)

    def test_wrong_numbers(self):
        for first in (0, 2):
            _error, _args, closed = self.same([sent(self.packets, first)])
            self.assertTrue(closed)

    def test_values_that_cannot_be_read(self):
        packets = result([described(b'one', LONG)], [[b'many']])
        made = self.connection(mariadb.Connection, [sent(packets)])
        self.assertRaises(ValueError, made._read_query_result)
        # The result was read to its end, so the next one is not taken for its rest.
        self.assertEqual(1 + len(packets), made._next_seq_id)

    def test_rows_of_other_sizes(self):
        for row in ([b'a'], [b'a', b'1', b'2']):
            packets = [*self.packets[:4], b''.join(map(coded, row)), END]
            made = self.connection(mariadb.Connection, [sent(packets)])
            self.assertRaises((IndexError, err.InternalError), made._read_query_result)


class KnownTest(Case):
    def test_bounded(self):
        self.addCleanup(setattr, mariadb_results, 'KNOWN_RESULTS', mariadb_results.KNOWN_RESULTS)
        mariadb_results.KNOWN_RESULTS = 3
        for number in range(10):
            column = described(b'c%d' % number, LONG)
            self.same([sent(result([column], [[b'1']]))])
            self.assertLessEqual(len(mariadb_results._known), 3)


class ColumnTest(testtools.TestCase):
    def test_as_pymysql_does(self):
        data = described(b'uuid', TEXT)
        known = protocol.FieldDescriptorPacket(data, 'utf8')
        for _again in range(2):
            self.assertEqual(vars(known), vars(mariadb_results.column(data, 'utf8')))

    def test_columns_that_differ(self):
        text = mariadb_results.column(described(b'host', TEXT), 'utf8')
        number = mariadb_results.column(described(b'host', LONG), 'utf8')
        self.assertEqual(text.name, number.name)
        self.assertNotEqual(text.description(), number.description())

    def test_taken_apart_once(self):
        first = mariadb_results.column(described(b'node', TEXT), 'utf8')
        self.assertIs(first, mariadb_results.column(described(b'node', TEXT), 'utf8'))
