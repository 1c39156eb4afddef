"""Attempts at a build: the owner of a server's record before its mapping names a cell.

A builder whose lease has expired may still work at the same time as its successor. The successor
first clears each cell under its epoch: the former builder's records are removed, and later
records of it are refused.
"""

from collections.abc import Mapping

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances


def clear(connection: sa.Connection, uuid: str, epoch: int, *, keep_begun: bool = True) -> bool:
    """Reserve the cell for this epoch and remove a server's record.

    keep_begun: keep a record whose host has begun the build
    Returns whether a record was kept. Raises StaleEpoch.
    """
    epochs.hold(connection, uuid, epoch)
    _await_record(connection, uuid)
    try:
        row = instances.lock(connection, uuid)
    except exception.InstanceNotFound:
        row = None  # the record does not exist, or is deleted
    if keep_begun and _is_begun(row):
        return True
    instances.purge(connection, uuid)
    return False


def take_back(
    connection: sa.Connection, uuid: str, epoch: int, *, keep_begun: bool = False
) -> bool:
    """Remove the record of this epoch. Return False if a newer epoch has reserved the cell.

    keep_begun: see `clear`; also returns False if the record was kept
    """
    try:
        epochs.hold(connection, uuid, epoch)
    except exception.StaleEpoch:
        return False
    if keep_begun and _is_begun(instances.held(connection, uuid)):
        return False
    instances.purge(connection, uuid)
    return True


def overtaken(connection: sa.Connection, epoch_of: Mapping[str, int]) -> set[str]:
    """Return the servers for which a newer epoch has cleared this cell.

    epoch_of: {uuid: epoch}. Call it after the records were added: `clear` waits for a transaction
    that has added a record, and this function then sees the new epoch.
    """
    newest = epochs.seen(connection, epoch_of)
    return {uuid for uuid, epoch in epoch_of.items() if newest.get(uuid, epoch) > epoch}


def _is_begun(row: rows.Row | None) -> bool:
    """Return whether a host has begun to build the server. row: None without a record"""
    if row is None:
        return False
    return row.host is None or row.task_state != states.TaskState.SCHEDULING


def _await_record(connection: sa.Connection, uuid: str) -> None:
    """Wait for a transaction that is adding the server's record, and make later ones wait.

    This adds a row with the same key and deletes it: its lock lasts until the transaction ends.
    """
    try:
        with connection.begin_nested():
            rows.insert(connection, instances.TABLE, {**_NOBODY, 'uuid': uuid})
    except db_exception.DBDuplicateEntry:
        return
    rows.delete(connection, instances.TABLE, uuid=uuid)


_NOBODY = {
    'project_id': '',
    'user_id': '',
    'display_name': '',
    'vm_state': str(states.VmState.BUILDING),
    'vcpus': 0,
    'memory_mb': 0,
    'root_gb': 0,
    'ephemeral_gb': 0,
    'flavor': {},
}
