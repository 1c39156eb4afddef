"""Undocumented names of PyMySQL that we use; dialects.mariadb overrides it."""

from pymysql import connections
from pymysql import protocol

from nova_lite.private_apis import guard

LIBRARY = guard.Library('PyMySQL', lowest='1.2', newest='1.2.4')

LIBRARY.takes(connections.Connection, '_read_packet', 'packet_type')
LIBRARY.takes(connections.Connection, '_create_ssl_ctx', 'sslp')
LIBRARY.takes(protocol, 'FieldDescriptorPacket', 'data', 'encoding')
LIBRARY.has(protocol, 'MysqlPacket')
