"""Times on record that are compared with the present time.

The time between a save and a restore has passed for none of them: otherwise all windows, such as
resize_confirm_window or reclaim_instance_interval, would end when an old state is restored.
"""

from nova_lite.lab.launcher import sqlite_copies

# {table: columns}. What users read as the past, such as created_at, stays.
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


def shift_cell(path, seconds):
    """Move the times in the file of a cell's database ahead."""
    _shift(path, CELL, seconds)
    sqlite_copies.execute(path, SHELVED, _modifier(seconds))


def shift_api(path, seconds):
    """Move the times in the file of the API database ahead."""
    _shift(path, API, seconds)
    sqlite_copies.execute(path, WAITING, seconds)


def _shift(path, tables, seconds):
    for table, columns in tables.items():
        for column in columns:
            statement = COLUMN.format(table=table, column=column)
            sqlite_copies.execute(path, statement, _modifier(seconds))


def _modifier(seconds):
    return f'{seconds:+.3f} seconds'
