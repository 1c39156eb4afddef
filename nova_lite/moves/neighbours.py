"""Volumes and ports of a server that moves: what the other end needs of them.

Attachments are made for the other end beside those that the server has, so either can
be dropped alone. Every function may be repeated; those that take away find what is
there by themselves, whatever became of the step before.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite.db.api import sagas
from nova_lite.saga import cleaning
from nova_lite.saga import journal

# {step: {kind: ids}} of what the guest may still have.
HELD = cleaning.HELD
# The status of an attachment that connects no host.
RESERVED = 'reserved'
ATTACHMENTS, VOLUMES, PORTS = 'attachments', 'volumes', 'ports'


def has_volumes(devices):
    """Whether any of the block devices is attached."""
    return any(device.get('attachment_id') for device in devices)


def reserve(world, ctxt, instance_uuid, devices, *, repeated, connector=None):
    """Make an attachment to come for each volume.

    repeated: some may have been made before
    connector: of the host that they connect, None for none. One without a connection cannot
        get it later, while the server uses the volume where it is.
    Returns {block device uuid: [id of its attachment, id of the new one]}.
    """
    devices = [device for device in devices if device.get('attachment_id')]
    known = {}
    if devices and repeated:
        known = _made(world, ctxt, instance_uuid, devices, connected=connector is not None)
    reserved = {}
    for device in devices:
        made = known.get(device.volume_id)
        if made is None:
            made = world.volume.create_attachment(
                ctxt,
                device.volume_id,
                instance_uuid,
                connector=connector,
                mountpoint=device.get('device_name'),
            )['id']
        reserved[device.uuid] = [device.attachment_id, made]
    return reserved


def _made(world, ctxt, instance_uuid, devices, *, connected):
    """{volume: id of an attachment made before}; those of no use are ended."""
    listed = world.volume.list_attachments(ctxt, instance_uuid)
    found = {}
    for attachment in _foreign(world, instance_uuid, devices, listed):
        if (attachment['status'] != RESERVED) == connected:
            found[attachment['volume_id']] = attachment['id']
        else:
            world.volume.delete_attachment(ctxt, attachment['id'])
    return found


def held(world, instance_uuid, kind):
    """Return the ids of a kind that sagas hold until the server's guest has let go of them."""
    rows = world.api_db.read(sagas.every, active=True, cleaning=True, instance_uuid=instance_uuid)
    found = set()
    for row in rows:
        if row.state == journal.CLEANING:
            found |= held_by(row.data, kind)
    return found


def held_by(data, kind):
    """Return the ids of a kind that a saga with such data holds: it has yet to do that duty."""
    owed = {duty['step'] for duty in data.get(cleaning.DUTIES, ())}
    holds = [kinds for step, kinds in data.get(HELD, {}).items() if step in owed]
    return {each for kinds in holds for each in kinds.get(kind, ())}


def drop_foreign(world, ctxt, instance_uuid, devices, *, listed=None):
    """End the attachments of a server that no block device names and no saga holds.

    listed: its attachments, where they were listed before
    """
    if listed is None:
        listed = world.volume.list_attachments(ctxt, instance_uuid)
    foreign = _foreign(world, instance_uuid, devices, listed)
    for attachment_id in sorted(each['id'] for each in foreign):
        world.volume.delete_attachment(ctxt, attachment_id)


def _foreign(world, instance_uuid, devices, listed):
    """Those of the listed attachments that no block device names and no saga holds."""
    own = {device.attachment_id for device in devices if device.get('attachment_id')}
    foreign = [each for each in listed if each['id'] not in own]
    kept = held(world, instance_uuid, ATTACHMENTS) if foreign else ()
    return [each for each in foreign if each['id'] not in kept]


def with_attachments(devices, reserved):
    """The block devices as the other end needs them: with the attachments made for it."""
    for device in devices:
        if device.uuid in reserved:
            device.attachment_id = reserved[device.uuid][1]
            device.connection_info = None
    return devices


def port_ids(network_info):
    """The ids of a server's ports."""
    return [vif['id'] for vif in network_info or ()]


def requested_networks(network_info):
    """A server's ports as a RequestSpec names them."""
    return [
        {
            'network_id': vif['network']['id'],
            'port_id': vif['id'],
            'vnic_type': vif.get('vnic_type'),
        }
        for vif in network_info or ()
    ]


def bind(world, ctxt, network_info, host):
    """Prepare the ports for a host, where the network service can do that."""
    if network_info and world.network.bindings.are_supported(ctxt):
        world.network.bindings.create(ctxt, network_info, host)


def activate(world, ctxt, instance_uuid, network_info, host):
    """Plug the ports on a host; returns network_info as it is then."""
    if not network_info:
        return []
    ids = port_ids(network_info)
    if world.network.bindings.are_supported(ctxt):
        world.network.bindings.activate(ctxt, ids, host)
    else:
        world.network.move(ctxt, ids, host)
    return world.network.info(ctxt, instance_uuid, network_info)


def unbind(world, ctxt, network_info, host):
    """Forget what was prepared on a host."""
    if network_info and world.network.bindings.are_supported(ctxt):
        world.network.bindings.delete(ctxt, port_ids(network_info), host)
