"""A connection to MariaDB that reads what columns are like only once.

The server describes the columns of every result, and PyMySQL takes each description
apart in Python: for a row of many columns that is half of the work. What is made of a
description depends on its bytes alone, so the same bytes are taken apart once.
"""

import functools

from pymysql import connections
from pymysql import protocol

# Columns of all statements of a process, with room for those that come seldom.
KNOWN = 4096


class Connection(connections.Connection):
    """What `pymysql.connect` makes otherwise."""

    def _read_packet(self, packet_type=protocol.MysqlPacket):
        if packet_type is protocol.FieldDescriptorPacket:
            packet_type = column
        return super()._read_packet(packet_type)


@functools.lru_cache(maxsize=KNOWN)
def column(data, encoding):
    """The description of a column in a packet; shared, and never changed by its readers."""
    return protocol.FieldDescriptorPacket(data, encoding)
