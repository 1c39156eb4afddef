"""Stored times that are compared with the present time.

A restore moves these times ahead by the time since the save. Otherwise all intervals, such as
resize_confirm_window or reclaim_instance_interval, would end when an old state is restored.
"""

from collections.abc import Mapping
from collections.abc import Sequence

from nova_lite.lab.launcher import sqlite_copies

# {table: columns}. Times that only users read, such as created_at, stay unchanged.
CELL = {
    'services': ('last_seen_up',),
    'instances': ('updated_at', 'deleted_at'),
    'migrations': ('updated_at',),
    'console_auth_tokens': ('expires',),
    'saga_epochs': ('seen_at',),
}
API = {
    'build_requests': ('lease_until', 'withdrawn_at'),
    'sagas': ('wake_at',),
    'deleted_aggregates': ('deleted_at',),
}
COLUMN = "UPDATE {table} SET {column} = strftime('%Y-%m-%d %H:%M:%f000', {column}, ?)"
# When a server was shelved, in its metadata, and since when a saga waits, in seconds.
SHELVED = """
UPDATE instances SET system_metadata = json_set(
    system_metadata, '$.shelved_at',
    strftime('%Y-%m-%dT%H:%M:%f000', json_extract(system_metadata, '$.shelved_at'), ?)
) WHERE json_extract(system_metadata, '$.shelved_at') IS NOT NULL
"""
WAITING = """
UPDATE sagas SET data = json_set(data, '$.since', json_extract(data, '$.since') + ?)
WHERE json_extract(data, '$.since') IS NOT NULL
"""


def of_cell(seconds: float) -> list[sqlite_copies.Statement]:
    """Return statements that move the times in the database of a cell ahead."""
    return [*_columns(CELL, seconds), (SHELVED, _modifier(seconds))]


def of_api(seconds: float) -> list[sqlite_copies.Statement]:
    """Return statements that move the times in the API database ahead."""
    return [*_columns(API, seconds), (WAITING, seconds)]


def _columns(tables: Mapping[str, Sequence[str]], seconds: float) -> list[sqlite_copies.Statement]:
    return [
        (COLUMN.format(table=table, column=column), _modifier(seconds))
        for table, columns in tables.items()
        for column in columns
    ]


def _modifier(seconds: float) -> str:
    return f'{seconds:+.3f} seconds'
