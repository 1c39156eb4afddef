"""Follow changes of the ports of servers, which belong to their owners.

The record of a server shows the ports of the network service. A saga, a build or a task of the
server records at its end ports that it has read earlier, and may have given the guest a port that
was deleted since. So a change during such work is also noted. The super-conductor follows it
again afterwards (superconductor.audits.port_changes): in the record, the guest and the allocations.
"""

from collections.abc import Collection
from collections.abc import Iterable

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite.clients import port_allocations
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import port_changes
from nova_lite.db.api import sagas
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from nova_lite.db.cell import reset_builds
from nova_lite.lifecycle import world as worlds

LOG = log.getLogger(__name__)

# How often a refresh starts again because another request has changed the record.
CHANGES_MET = 3


def note(world: worlds.World, uuid: str, lost: Collection[str] = ()) -> None:
    """Note that the ports of a server have changed. lost: ids of ports that it has lost"""
    world.api_db.write(port_changes.add, uuid, lost)


def follow(
    world: worlds.World, cell: cells.Cell, row: rows.Row, lost: Collection[str] = ()
) -> None:
    """Follow a change of a server's ports as far as that is possible now, and note the rest.

    lost: ids of ports that were deleted; other lost ports are found by comparing
    """
    noted = is_busy(world, row)
    if noted:
        note(world, row.uuid, lost)
    gone = set(lost) & ids_of(row.network_info)
    try:
        if row.task_state is None:
            gone |= refresh(world, cell, row)
        elif gone:
            cell.db.write(network_info.forget, row.uuid, gone)
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot refresh the network information of server %s: %s. The super-conductor '
            'refreshes it later.',
            row.uuid,
            error,
        )
        if not noted:
            note(world, row.uuid, lost)
    for port_id in sorted(gone):
        _unplug(world, cell, row, port_id)
    if not noted and gone & resource_requests.recorded(row.network_info or ()).keys():
        _release(world, cell, row)


def is_busy(world: worlds.World, row: rows.Row) -> bool:
    """Return whether a task, a build or a saga may still record ports that it read earlier."""
    if row.task_state is not None or reset_builds.is_building(row):
        return True
    return world.api_db.read(sagas.find_active, row.uuid) is not None


def refresh(world: worlds.World, cell: cells.Cell, row: rows.Row) -> set[str]:
    """Record the network information of a server without a task. Return ids of lost ports.

    Lost ports are noted first: the super-conductor detaches those from the guest that its host
    could not detach, or was not told of. If another request has changed the record since the row
    was read, the refresh starts again from the new record. Raises the errors of the network
    client, and StateChanged if other requests keep changing the record.
    """
    for _attempt in range(CHANGES_MET):
        info = world.network.info(context.admin(), row.uuid, known=row.network_info or ())
        lost = ids_of(row.network_info) - ids_of(info)
        if lost and row.host is not None:
            note(world, row.uuid, lost)
        if info == (row.network_info or []) or cell.db.write(_store, row, info):
            return lost
        row = cell.db.read(instances.get, row.uuid)
        if row.task_state is not None:
            break
    detail = 'other requests change its network information'
    raise exception.StateChanged(what='Instance', key=row.uuid, detail=detail)


def _store(connection: sa.Connection, row: rows.Row, info: session.Jsons) -> bool:
    """Store the information if the record is still as it was read. Return whether it is stored."""
    now = instances.lock(connection, row.uuid)
    if now.task_state is not None or now.network_info != row.network_info:
        return False
    network_info.store(connection, row.uuid, info, task_state=None)
    return True


def ids_of(info: Iterable[session.Json] | None) -> set[str]:
    """Return the ids of the ports of network information."""
    return {vif['id'] for vif in info or ()}


def _unplug(world: worlds.World, cell: cells.Cell, row: rows.Row, port_id: str) -> None:
    """Detach a port that a server has lost from its guest as well."""
    if row.host is None:
        return
    try:
        world.compute(cell).drop_interface(
            context.admin(), host=row.host, instance_uuid=row.uuid, port_id=port_id
        )
    except exception.Unavailable as error:
        LOG.warning('Cannot detach port %s from server %s now: %s', port_id, row.uuid, error)


def _release(world: worlds.World, cell: cells.Cell, row: rows.Row) -> None:
    try:
        release(world, cell, row)
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot release the resources that lost ports of server %s had: %s. They are '
            'released later.',
            row.uuid,
            error,
        )
        note(world, row.uuid)


def release(world: worlds.World, cell: cells.Cell, row: rows.Row) -> None:
    """Release the allocations of ports that a server has lost.

    Do nothing during a saga: it may have claimed resources for a port whose binding does not
    name them yet.
    """

    def is_changing() -> bool:
        return world.api_db.read(sagas.find_active, row.uuid) is not None

    node = cell.db.read(compute_nodes.find, row.host, row.node)
    if node is not None:
        port_allocations.release(world, context.admin(), row, node.uuid, unless=is_changing)
