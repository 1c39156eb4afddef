"""Volumes and ports of a server that moves: what the other end needs of them.

Attachments are made for the other end beside those that the server has, so either can
be dropped alone. Every function may be repeated; those that take away find what is
there by themselves, whatever became of the step before.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from nova_lite.db.api import sagas
from nova_lite.saga import cleaning
from nova_lite.saga import journal

ATTACHMENTS, VOLUMES, PORTS = 'attachments', 'volumes', 'ports'


def has_volumes(devices):
    """Return whether any of the block devices is attached."""
    return any(device.get('attachment_id') for device in devices)


def reserve(move, devices, *, connector=None):
    """Make an attachment to come for each volume; those made before are ended.

    connector: of the host that they connect, None for none. One without a connection cannot
        get it later, while the server uses the volume where it is.
    Returns {block device uuid: [id of its attachment, id of the new one]}.
    """
    if move.repeated:
        # They may connect no host, or another one that the server went to or came from.
        drop_foreign(move, move.devices())
    return {
        device.uuid: [
            device.attachment_id,
            attach(
                move, device.volume_id, connector=connector, mountpoint=device.get('device_name')
            ),
        ]
        for device in devices
        if device.get('attachment_id')
    }


def attach(move, volume_id, **options):
    """Make an attachment of the server; its id. options: of the client's create_attachment"""
    server = move.instance_uuid
    return move.world.volume.create_attachment(move.ctxt, volume_id, server, **options)['id']


def held(move, kind):
    """Return the ids of a kind that sagas hold until the server's guest has let go of them."""
    own = {'instance_uuid': move.instance_uuid}
    rows = move.world.api_db.read(sagas.every, active=True, cleaning=True, **own)
    found = set()
    for row in rows:
        if row.state == journal.CLEANING:
            found |= held_by(row.data, kind)
    return found


def held_by(data, kind):
    """Return the ids of a kind that a saga with such data holds: it has yet to do that duty."""
    owed = cleaning.owed(data)
    holds = [kinds for step, kinds in data.get(cleaning.HELD, {}).items() if step in owed]
    return {each for kinds in holds for each in kinds.get(kind, ())}


def drop_foreign(move, devices, *, listed=None):
    """End the attachments of a server that no block device names and no saga holds.

    listed: its attachments, where they were listed before
    """
    if listed is None:
        listed = move.world.volume.list_attachments(move.ctxt, move.instance_uuid)
    own = {device.attachment_id for device in devices if device.get('attachment_id')}
    foreign = {attachment['id'] for attachment in listed} - own
    if foreign:
        foreign -= held(move, ATTACHMENTS)
    for attachment_id in sorted(foreign):
        move.world.volume.delete_attachment(move.ctxt, attachment_id)


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


def bind(move, network_info, host):
    """Prepare the ports for a host, where the network service can do that."""
    if network_info and move.world.network.bindings.are_supported(move.ctxt):
        move.world.network.bindings.create(move.ctxt, network_info, host)


def activate(move, network_info, host):
    """Plug the ports on a host; returns network_info as it is then."""
    if not network_info:
        return []
    network, ids = move.world.network, port_ids(network_info)
    if network.bindings.are_supported(move.ctxt):
        network.bindings.activate(move.ctxt, ids, host)
    else:
        network.move(move.ctxt, ids, host)
    return network.info(move.ctxt, move.instance_uuid, network_info)


def unbind(move, network_info, host):
    """Forget what was prepared on a host."""
    if network_info and move.world.network.bindings.are_supported(move.ctxt):
        move.world.network.bindings.delete(move.ctxt, port_ids(network_info), host)
