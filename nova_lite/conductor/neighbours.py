"""Volumes and ports of a server that moves: what the other end needs of them.

Attachments are made for the other end beside those that the server has, so either can
be dropped alone. Every function may be repeated; those that take away find what is
there by themselves, whatever became of the step before.
Source: reference/moves 3.1, reference/neighbour-calls.
"""


def has_volumes(devices):
    """Whether any of the block devices is attached."""
    return any(device.get('attachment_id') for device in devices)


def reserve(world, ctxt, instance_uuid, devices, *, repeated):
    """Make an attachment to come for each volume.

    repeated: some may have been made before
    Returns {block device uuid: [id of its attachment, id of the new one]}.
    """
    devices = [device for device in devices if device.get('attachment_id')]
    own = {device.attachment_id for device in devices}
    known = {}
    if devices and repeated:
        for attachment in world.volume.list_attachments(ctxt, instance_uuid):
            if attachment['id'] not in own:
                known[attachment['volume_id']] = attachment['id']
    reserved = {}
    for device in devices:
        made = known.get(device.volume_id)
        if made is None:
            made = world.volume.create_attachment(ctxt, device.volume_id, instance_uuid)['id']
        reserved[device.uuid] = [device.attachment_id, made]
    return reserved


def drop_foreign(world, ctxt, instance_uuid, devices):
    """End all attachments of a server but those that its block devices name."""
    drop_others(world, ctxt, world.volume.list_attachments(ctxt, instance_uuid), devices)


def drop_others(world, ctxt, attachments, devices):
    """End those of the attachments that no block device names."""
    own = {device.attachment_id for device in devices if device.get('attachment_id')}
    for attachment in attachments:
        if attachment['id'] not in own:
            world.volume.delete_attachment(ctxt, attachment['id'])


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
