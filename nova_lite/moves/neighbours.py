"""Volumes and ports of a server that moves, at the other services.

The destination gets its own attachments in addition to the source's, so that each can be deleted
alone. All functions may be repeated. Functions that delete list the existing objects first, because
the result of an earlier step may be unknown.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.objects import block_device
from nova_lite.objects import port_devices
from nova_lite.objects import request_spec
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.states import transitions

LOG = log.getLogger(__name__)
ATTACHMENTS, VOLUMES, PORTS = 'attachments', 'volumes', 'ports'


@contextlib.contextmanager
def late(look: Callable[[], None]) -> Iterator[None]:
    """Run the check `look` after a request that a former owner may have sent late.

    It runs even if the reply was lost. A super-conductor may be frozen between the check of its
    lease and the request, see decision 0010.
    """
    try:
        yield
    except exception.Unavailable:
        look()
        raise
    look()


def has_volumes(devices: Sequence[block_device.BlockDevice]) -> bool:
    """Return whether any of the block devices is attached."""
    return any(device.get('attachment_id') for device in devices)


def reserve(
    scope: scopes.Scope,
    devices: Sequence[block_device.BlockDevice],
    *,
    connector: session.Json | None = None,
    forward: bool = False,
) -> steps.Reserved:
    """Create an attachment for each volume. First delete those that no block device names.

    A former owner of this saga may have created them, or a host that was killed when it attached
    the root disk again (`compute.volumes`).

    connector: that of the host to connect, or None. Without a connector the volume cannot be
        connected later while the server uses it at the source
    forward: whether the saga has passed its pivot
    Return {block device uuid: [id of its attachment, id of the new attachment or LOST]}. If the
    server has lost its root disk, the move fails before the pivot; after it the disk is omitted.
    """
    drop_unnamed(scope, scope.devices, {device.volume_id for device in devices})
    made: steps.Reserved = {}
    for device in devices:
        if device.get('attachment_id'):
            new = _reserve(scope, device, connector, forward=forward)
            if new != steps.LOST or not is_root(device):
                made[device.uuid] = [device.attachment_id, new]
    return made


def _reserve(
    scope: scopes.Scope,
    device: block_device.BlockDevice,
    connector: session.Json | None,
    *,
    forward: bool,
) -> str:
    """Create an attachment for a volume. Return its id, or LOST if the server has lost the volume.

    If the attachment of a volume was deleted, the volume is attached again if possible.
    """
    name, volume_id = device.get('device_name'), device.volume_id
    try:
        return attach(scope, volume_id, connector=connector, mountpoint=name)
    except (exception.VolumeNotFound, exception.VolumeNotUsable) as error:
        if (is_root(device) and not forward) or is_attached(scope, device):
            raise
        LOG.warning('Server %s has lost volume %s: %s', scope.instance_uuid, volume_id, error)
        return steps.LOST


def is_root(device: block_device.BlockDevice) -> bool:
    """Return whether a server boots from a block device."""
    return bool(device.get('boot_index') == 0)


def is_attached(scope: scopes.Scope, device: block_device.BlockDevice) -> bool:
    """Return whether the volume service has the attachment of a block device."""
    try:
        scope.world.volume.get_attachment(scope.ctxt, device.attachment_id)
    except exception.AttachmentNotFound:
        return False
    return True


def attach(scope: scopes.Scope, volume_id: str, **options: typing.Any) -> str:
    """Create an attachment. Return its id. options: of the client's create_attachment"""
    server = scope.instance_uuid
    made: str = scope.world.volume.create_attachment(scope.ctxt, volume_id, server, **options)['id']
    return made


def held(scope: scopes.Scope, kind: str) -> set[str]:
    """Return ids of objects (of a kind) that sagas hold until the server's guest releases them."""
    own = {'instance_uuid': scope.instance_uuid}
    rows = scope.world.api_db.read(sagas.every, active=True, cleaning=True, **own)
    found = set()
    for row in rows:
        if row.state == journal.CLEANING:
            found |= held_by(row.data, kind)
    return found


def held_by(data: saga.Data, kind: str) -> set[str]:
    """Return ids of objects (of a kind) that a saga holds for its duties, by the saga's data."""
    owed = cleaning.owed(data)
    holds = [kinds for step, kinds in data.get(cleaning.HELD, {}).items() if step in owed]
    return {each for kinds in holds for each in kinds.get(kind, ())}


def drop_foreign(scope: scopes.Scope, read: Callable[[], server_cell.Devices]) -> None:
    """Delete the attachments of a server that no block device names and no saga holds.

    read: function that reads the block devices, see `_listed`
    """
    listed, devices = _listed(scope, read)
    drop_listed(scope, listed, devices)


def _listed(
    scope: scopes.Scope, read: Callable[[], server_cell.Devices]
) -> tuple[session.Jsons, server_cell.Devices]:
    """Return the attachments of a server, and its block devices, which are read afterwards.

    So a block device names each attachment that was recorded while the attachments were listed. A
    host that reboots a server records an attachment after it has created it: raise StateChanged if
    the state of the server was reset, and the server is being rebooted.
    """
    listed = scope.world.volume.list_attachments(scope.ctxt, scope.instance_uuid)
    row = scope.find()
    if row is not None and row.task_state in transitions.REBOOT_HARD.tasks:
        detail = f'found task {row.task_state}'
        raise exception.StateChanged(what='Instance', key=scope.instance_uuid, detail=detail)
    return listed, read()


def drop_listed(
    scope: scopes.Scope,
    listed: session.Jsons,
    devices: Sequence[block_device.BlockDevice],
    *,
    reserved: steps.Reserved | None = None,
) -> None:
    """Delete those of the listed attachments that no block device names and no saga holds.

    devices: block devices of the server, which were read after the list
    reserved: result of `reserve`, whose attachments are kept
    """
    own = {device.attachment_id for device in devices if device.get('attachment_id')}
    own.update(*(reserved or {}).values())
    foreign = {attachment['id'] for attachment in listed} - own
    if foreign:
        foreign -= held(scope, ATTACHMENTS)
    for attachment_id in sorted(foreign):
        scope.world.volume.delete_attachment(scope.ctxt, attachment_id)


def drop_unnamed(
    scope: scopes.Scope,
    read: Callable[[], server_cell.Devices],
    volumes: Collection[str],
    *,
    reserved: steps.Reserved | None = None,
) -> server_cell.Devices:
    """Delete the attachments of volumes that no block device of the server names.

    A volume that is being attached takes no further attachment. Attachments of other volumes stay
    unless the step is repeated: a request to attach a volume may not have recorded it yet.

    read: see `_listed`; volumes: ids; reserved: see `drop_listed`
    Return the block devices of the server.
    """
    listed, devices = _listed(scope, read)
    if not scope.repeated:
        listed = [each for each in listed if each['volume_id'] in volumes]
    drop_listed(scope, listed, devices, reserved=reserved)
    return devices


def with_attachments(
    devices: list[block_device.BlockDevice], reserved: steps.Reserved
) -> list[block_device.BlockDevice]:
    """Return the block devices with the attachments for the destination.

    Block devices whose volumes the server has lost are left out.
    """
    found = []
    for device in devices:
        if device.uuid in reserved:
            device.attachment_id = reserved[device.uuid][1]
            device.connection_info = None
            if device.attachment_id == steps.LOST:
                continue
        found.append(device)
    return found


def port_ids(network_info: session.Jsons | None) -> list[str]:
    """Return the ids of a server's ports."""
    return [vif['id'] for vif in network_info or ()]


def requested_networks(network_info: session.Jsons | None) -> session.Jsons:
    """Return a server's ports in the form of a RequestSpec."""
    return [
        {
            'network_id': vif['network']['id'],
            'port_id': vif['id'],
            'vnic_type': vif.get('vnic_type'),
            **({port_devices.KEY: vif[port_devices.KEY]} if port_devices.KEY in vif else {}),
        }
        for vif in network_info or ()
    ]


def put_resource_requests_in(
    scope: scopes.Scope, spec: request_spec.RequestSpec, row: rows.Row
) -> None:
    """Add the resource requests of a server's ports to a request spec."""
    if row.network_info:
        resource_requests.put_in(spec, scope.world.network.ports(scope.ctxt, row.uuid))


def allocations(scope: scopes.Scope) -> dict[str, resource_requests.Allocation]:
    """Return {port id: `allocation` of its binding} at the destination."""
    given = resource_requests.mappings(scope.results[steps.CHOOSE])
    # An allocation request for the flavor's own group alone has nothing for ports.
    if not any(given):
        return {}
    ports = scope.world.network.ports(scope.ctxt, scope.instance_uuid)
    found = {port['id']: resource_requests.allocation(port, given) for port in ports}
    return {port_id: each for port_id, each in found.items() if each is not None}


def bind(scope: scopes.Scope, network_info: session.Jsons, host: str) -> None:
    """Add bindings of the ports to the destination, if the network service supports several."""
    if network_info and scope.world.network.bindings.are_supported(scope.ctxt):
        scope.world.network.bindings.create(
            scope.ctxt, scope.instance_uuid, network_info, host, allocations=allocations(scope)
        )


def activate(scope: scopes.Scope, network_info: session.Jsons, host: str) -> session.Jsons:
    """Activate the bindings of the ports to a host. Return the new network_info."""
    if not network_info:
        return []
    network, uuid = scope.world.network, scope.instance_uuid
    if network.bindings.are_supported(scope.ctxt):
        network.bindings.activate(scope.ctxt, uuid, network_info, host)
    else:
        # A service with resource requests of ports has bindings to several hosts, too.
        found = resource_requests.recorded(network_info)
        network.move(scope.ctxt, uuid, network_info, host, allocations=found)
    return network.info(scope.ctxt, uuid, network_info)


def unbind_all(scope: scopes.Scope) -> None:
    """Bind the ports, which the server keeps, to no host, unless the server is gone."""
    row = scope.find_present()
    if row is not None:
        scope.world.network.unbind(scope.ctxt, row.uuid, row.network_info or ())


def unbind(scope: scopes.Scope, network_info: session.Jsons, host: str) -> None:
    """Delete the bindings of the ports to a host, if there may be several."""
    if network_info and scope.world.network.bindings.are_supported(scope.ctxt):
        scope.world.network.bindings.delete(scope.ctxt, scope.instance_uuid, network_info, host)
