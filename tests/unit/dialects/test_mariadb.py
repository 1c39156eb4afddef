"""Descriptions of columns and TLS contexts, which are made once."""

import ssl
import struct

from pymysql import protocol
import testtools

from nova_lite.dialects import mariadb


def described(name, kind):
    """The packet that describes a column. kind: MySQL's number of its type"""
    words = b'def', b'cell1', b'instances', b'instances', name, name
    text = b''.join(bytes([len(word)]) + word for word in words)
    return text + struct.pack('<xHIBHBxx', 45, 255, kind, 0, 0)


class ColumnTest(testtools.TestCase):
    def test_as_pymysql_does(self):
        data = described(b'uuid', 253)
        known = vars(protocol.FieldDescriptorPacket(data, 'utf8'))
        for _again in range(2):
            self.assertEqual(known, vars(mariadb.column(data, 'utf8')))

    def test_columns_that_differ(self):
        text = mariadb.column(described(b'host', 253), 'utf8')
        number = mariadb.column(described(b'host', 3), 'utf8')
        self.assertEqual(text.name, number.name)
        self.assertNotEqual(text.description(), number.description())

    def test_taken_apart_once(self):
        first = mariadb.column(described(b'node', 253), 'utf8')
        self.assertIs(first, mariadb.column(described(b'node', 253), 'utf8'))


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
