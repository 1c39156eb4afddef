"""Connections that are encrypted if the server can, messages that end transactions, and times."""

import io
import re
import socket
import ssl
import struct

from pymysql import converters
from pymysql.constants import CLIENT
from pymysql.constants import FIELD_TYPE
import testtools

from nova_lite import runtime
from nova_lite.dialects import mariadb
from tests.fixtures import clock

# What a server says first that cannot encrypt, and its answer to a password and to each statement.
CAPABILITIES = CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH
GREETING = (
    b'\x0a10.11.6-MariaDB\0\1\0\0\0saltsalt\0'
    + struct.pack('<HBHHB10x', CAPABILITIES & 0xFFFF, 45, 2, CAPABILITIES >> 16, 21)
    + b'saltsaltsalt\0mysql_native_password\0'
)
QUIT, ACCEPTED = b'\1', b'\0\0\0\2\0\0\0'


def packet(number, data):
    return struct.pack('<I', len(data))[:3] + bytes([number]) + data


class PlainServer:
    """A server without TLS. Its connections: what each client has sent after the greeting."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.connections = []
        self.thread = runtime.spawn(self.run, name='plain-server')

    def run(self):
        while True:
            try:
                found, _address = self.listener.accept()
            except OSError:
                return
            with found, found.makefile('rb') as sent:
                found.sendall(packet(0, GREETING))
                received = []
                self.connections.append(received)
                while header := sent.read(4):
                    size = int.from_bytes(header[:3], 'little')
                    received.append(sent.read(size))
                    if received[-1] == QUIT:
                        break
                    found.sendall(packet((header[3] + 1) % 256, ACCEPTED))

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


class EncryptionTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.server = PlainServer()
        self.addCleanup(self.server.close)
        self.connect = mariadb.connector()

    def asked(self, **options):
        """Connect. Return, for each attempt, whether it went on without TLS."""
        before = len(self.server.connections)
        connection = self.connect(
            (), {'host': '127.0.0.1', 'port': self.server.port, 'user': 'me', **options}
        )
        self.assertFalse(connection.ssl)
        connection.close()
        return [bool(each) for each in self.server.connections[before:]]

    def test_the_context_checks_nothing(self):
        found = mariadb.unchecked()
        self.assertEqual((ssl.CERT_NONE, False), (found.verify_mode, found.check_hostname))
        self.assertIs(found, mariadb.unchecked())
        self.assertEqual([], found.get_ca_certs())

    def test_a_server_that_cannot_encrypt_is_asked_once_an_hour(self):
        self.assertEqual([False, True], self.asked())
        self.assertEqual([True], self.asked())
        self.clock.advance(mariadb.PLAIN_S - 1)
        self.assertEqual([True], self.asked())
        self.clock.advance(2)
        self.assertEqual([False, True], self.asked())

    def test_a_failure_asks_again(self):
        self.asked()
        port, self.server.port = self.server.port, 1
        self.assertRaises(mariadb.pymysql.err.OperationalError, self.asked)
        self.server.port = port
        self.assertEqual([False, True], self.asked())

    def test_settings_are_left_alone(self):
        self.assertEqual([True], self.asked(ssl_disabled=True))
        self.assertRaises(mariadb.pymysql.err.OperationalError, self.asked, ssl_verify_cert=True)


class TransactionsTest(testtools.TestCase):
    """The messages that a connection sends, each of which the server has accepted."""

    def setUp(self):
        super().setUp()
        ours, self.server = socket.socketpair()
        self.addCleanup(self.server.close)
        self.server.setblocking(False)
        self.connection = mariadb.Connection(defer_connect=True)
        self.connection._sock, self.connection._current_timeout = ours, None
        self.addCleanup(self.connection._force_close)

    def commits_by_itself(self, does):
        answer = packet(1, b'\0\0\0' + bytes([2 if does else 0]) + b'\0\0\0')
        self.connection._rfile = io.BufferedReader(io.BytesIO(answer * 9))
        self.connection.server_status = 2 if does else 0

    def sent(self):
        """Return the messages since the last time."""
        try:
            return re.findall('[A-Z]+', self.server.recv(1000).decode())
        except BlockingIOError:
            return []

    def test_each_statement_by_itself(self):
        self.commits_by_itself(True)
        self.connection.commit()
        self.connection.rollback()
        self.assertEqual([], self.sent())

    def test_transactions_that_have_begun(self):
        self.commits_by_itself(True)
        for end in (self.connection.commit, self.connection.rollback):
            self.connection.begin()
            end()
            end()
            self.assertEqual(['BEGIN', end.__name__.upper()], self.sent())

    def test_transactions_that_begin_by_themselves(self):
        self.commits_by_itself(False)
        self.connection.commit()
        self.connection.rollback()
        self.assertEqual(['COMMIT', 'ROLLBACK'], self.sent())


class TimesTest(testtools.TestCase):
    def test_as_pymysql(self):
        for text in (
            '2026-12-01 00:26:24',
            '2026-12-01 00:26:24.5',
            '2026-12-01 00:26:24.892906',
            '0000-00-00 00:00:00',
            '2026-02-31 00:00:00.000000',
        ):
            self.assertEqual(converters.convert_datetime(text), mariadb.time_of(text), text)

    def test_of_all_kinds(self):
        for kind in (FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP):
            self.assertIs(mariadb.time_of, mariadb.CONVERSIONS[kind])
