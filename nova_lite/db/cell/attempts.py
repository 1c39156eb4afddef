"""Attempts at a build: whose a server's record is before its mapping names a cell.

A builder whose lease ran out may still be at work beside the one that took over.
That one first clears every cell under its epoch: what the former has left goes,
and what it would still add is refused.
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
    """Take the cell for this epoch and remove a server's record.

    keep_begun: but not one that a host works at, or did
    Returns whether one was kept. Raises StaleEpoch.
    """
    epochs.hold(connection, uuid, epoch)
    _await_record(connection, uuid)
    try:
        row = instances.lock(connection, uuid)
    except exception.InstanceNotFound:
        row = None  # there is none, or it is deleted
    if keep_begun and _is_begun(row):
        return True
    instances.purge(connection, uuid)
    return False


def take_back(
    connection: sa.Connection, uuid: str, epoch: int, *, keep_begun: bool = False
) -> bool:
    """Remove the record that this epoch has made; False when the cell is a newer one's.

    keep_begun: as of `clear`; returns False as well when the record was kept
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
    """Return those of the servers for which a newer epoch has chosen this cell.

    epoch_of: {uuid: epoch}. To be asked after their records were added: `clear` waits
    for a transaction that has added one, and who has cleared is seen from here.
    """
    newest = epochs.seen(connection, epoch_of)
    return {uuid for uuid, epoch in epoch_of.items() if newest.get(uuid, epoch) > epoch}


def _is_begun(row: rows.Row | None) -> bool:
    """Return whether a host works at a server, or did. row: None without a record"""
    if row is None:
        return False
    return row.host is None or row.task_state != states.TaskState.SCHEDULING


def _await_record(connection: sa.Connection, uuid: str) -> None:
    """Wait for a transaction that is adding the server's record; later ones wait for ours.

    The row of our own says so to both, though it is gone at once: that it was there
    holds until the end of the transaction.
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
