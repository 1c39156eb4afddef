"""Descriptions of columns, which are taken apart once."""

import struct

from pymysql import protocol
import testtools

from nova_lite.db import mariadb


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
