"""TLS contexts, which are made once, and messages that begin and end transactions."""

import io
import re
import socket
import ssl

from pymysql import err
from pymysql.constants import CR
import testtools

from nova_lite.dialects import mariadb


class EncryptionTest(testtools.TestCase):
    def context(self, **settings):
        return mariadb.Connection(defer_connect=True, **settings).ctx

    def test_connections_without_settings_share_a_context(self):
        found = self.context()
        self.assertIs(found, self.context())
        self.assertEqual(ssl.CERT_NONE, found.verify_mode)
        self.assertFalse(found.check_hostname)

    def test_others_have_their_own(self):
        found = self.context(ssl_verify_cert=True, ssl_verify_identity=True)
        self.assertIsNot(self.context(), found)
        self.assertEqual(ssl.CERT_REQUIRED, found.verify_mode)


class TransactionsTest(testtools.TestCase):
    """The messages that a connection sends, each of which the server has accepted."""

    accepted = b'\7\0\0\1\0\0\0\2\0\0\0'

    def setUp(self):
        super().setUp()
        ours, self.server = socket.socketpair()
        self.addCleanup(self.server.close)
        self.server.setblocking(False)
        self.connection = mariadb.Connection(defer_connect=True)
        self.connection._sock, self.connection._current_timeout = ours, None
        self.addCleanup(self.connection._force_close)
        self.connection._rfile = io.BufferedReader(io.BytesIO(self.accepted * 9))

    def sent(self):
        """Return the messages since the last time."""
        try:
            return re.findall('[A-Z]+', self.server.recv(1000).decode())
        except BlockingIOError:
            return []

    def test_each_statement_by_itself(self):
        self.connection.autocommit_mode = True
        self.connection.commit()
        self.connection.rollback()
        self.assertEqual([], self.sent())

    def test_transactions_that_have_begun(self):
        self.connection.autocommit_mode = True
        for end in (self.connection.commit, self.connection.rollback):
            self.connection.begin()
            end()
            end()
            self.assertEqual(['BEGIN', end.__name__.upper()], self.sent())

    def test_transactions_that_begin_by_themselves(self):
        for mode in (False, None):
            self.connection.autocommit_mode = mode
            self.connection.commit()
            self.connection.rollback()
            self.assertEqual(['COMMIT', 'ROLLBACK'], self.sent())


class AnswersTest(testtools.TestCase):
    """A server that does not answer in time."""

    def test_the_timeout_is_reported(self):
        ours, server = socket.socketpair()
        self.addCleanup(server.close)
        connection = mariadb.Connection(defer_connect=True, read_timeout=1)
        ours.settimeout(1)
        connection._sock, connection._closed = ours, False
        connection._rfile = Late()
        error = self.assertRaises(err.OperationalError, connection._read_packet)
        self.assertEqual(CR.CR_SERVER_LOST, error.args[0])
        self.assertIn('(timed out)', error.args[1])
        self.assertFalse(connection.open)


class Late(io.BytesIO):
    """A file of a socket whose other side is silent."""

    def peek(self, _size=0):
        raise TimeoutError('timed out')
