"""Undocumented names of PyMySQL that we use; dialects.mariadb overrides some of them."""

from pymysql import connections
from pymysql import converters
from pymysql import err
from pymysql import protocol

from nova_lite.private_apis import guard

LIBRARY = guard.Library('PyMySQL', lowest='1.2', newest='1.2.4')

LIBRARY.takes(connections.Connection, '_read_packet', 'packet_type')
LIBRARY.takes(connections.Connection, '_create_ssl_ctx', 'sslp')
LIBRARY.takes(protocol, 'FieldDescriptorPacket', 'data', 'encoding')
LIBRARY.has(protocol, 'MysqlPacket')
LIBRARY.takes(connections.Connection, '_read_query_result', 'unbuffered')
LIBRARY.has(connections.Connection, '_sock', '_rfile')
LIBRARY.keeps(connections.Connection, '_read_timeout', '_result', 'autocommit_mode', 'use_unicode')
LIBRARY.uses(connections.Connection, '_read_packet', '_read_bytes', '_next_seq_id', 'encoding')
LIBRARY.uses(connections.Connection, '_read_bytes', '_rfile', '_force_close')
LIBRARY.uses(connections.Connection, '_read_query_result', 'MySQLResult', 'server_status')
LIBRARY.uses(connections.MySQLResult, '_read_result_packet', 'field_count', '_get_descriptions')
LIBRARY.uses(connections.MySQLResult, '_read_result_packet', '_read_rowdata_packet')
LIBRARY.uses(connections.MySQLResult, '_get_descriptions', 'fields', 'converters', 'description')
LIBRARY.uses(connections.MySQLResult, '_read_rowdata_packet', '_check_packet_is_eof', 'rows')
LIBRARY.has(converters, 'convert_datetime')
LIBRARY.has(err, 'InternalError')
