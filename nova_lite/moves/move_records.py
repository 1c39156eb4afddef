"""Changes of a server's flavor and devices in the database of the cell."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import steps


def flavor_columns(flavor: saga.Data) -> dict[str, typing.Any]:
    """Return {column: value} of a server that depend on its flavor."""
    return {
        'flavor': flavor,
        'flavor_id': flavor['id'],
        **{name: flavor[name] for name in ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb')},
    }


def forget_destination(connection: sa.Connection, uuid: str, zone: str | None) -> None:
    """Reset the columns that name the destination of a server that does not move."""
    values = {'new_flavor': None, 'availability_zone': zone}
    instances.update(connection, uuid, values)


def change_reset(connection: sa.Connection, uuid: str, values: rows.Values) -> None:
    """Change a server that has left its move because an administrator has reset its state.

    A server that is being deleted, soft-deleted or restored keeps its states.
    """
    row = instances.held(connection, uuid)
    if row is not None and row.task_state is None and row.deleted_at is None:
        instances.force(connection, uuid, values, expect_task=(None,))


def shelve_again(connection: sa.Connection, uuid: str) -> None:
    """Shelve a server on no host that an administrator has set to ACTIVE during its move.

    Each request but a deletion would be refused for such a server.
    """
    row = instances.held(connection, uuid)
    if row is not None and row.host is None and row.vm_state == states.VmState.ACTIVE:
        change_reset(connection, uuid, {'vm_state': str(states.VmState.SHELVED_OFFLOADED)})


def change_devices(
    connection: sa.Connection,
    reserved: Mapping[str, Sequence[str]],
    connected: Iterable[Mapping[str, typing.Any]] | None,
) -> None:
    """Set the attachments of block devices to those of the server's current host.

    Block devices whose volumes no longer have an attachment are removed.
    reserved: result of neighbours.reserve; connected: [{'uuid', 'connection_info', 'lost'}]
    """
    infos = {device['uuid']: device['connection_info'] for device in connected or ()}
    lost = {device['uuid'] for device in connected or () if device.get('lost')}
    for uuid, (_former, new) in (reserved or {}).items():
        if new == steps.LOST:
            lost.add(uuid)
        elif uuid not in lost:
            values = {'attachment_id': new, 'connection_info': infos.get(uuid)}
            children.update_block_device(connection, uuid, values)
    for uuid in sorted(lost):
        children.destroy_block_device(connection, uuid)


def replace_attachment(connection: sa.Connection, uuid: str, former: str, new: str) -> None:
    """Set the attachment of a block device, if the record still names the former one."""
    values = {'attachment_id': new, 'connection_info': None}
    children.change_attachment(connection, uuid, former, values)


def change_connection(connection: sa.Connection, device: Mapping[str, typing.Any]) -> None:
    """Record the connection of a host to a volume, or remove the block device of a lost volume.

    device: an item of `connected` in `change_devices`
    """
    if device.get('lost'):
        children.destroy_block_device(connection, device['uuid'])
        return
    info = {'connection_info': device['connection_info']}
    children.update_block_device(connection, device['uuid'], info)
