"""Arrivals: what a node does for every server that comes to it from elsewhere."""

from nova_lite import exception
from nova_lite.compute import claims
from nova_lite.compute import guests


def claim(site, node, instance, block_devices):
    """Promise room on the node; an operator may have raised the ratios since they were read.

    Raises NoCapacity.
    """
    spec = guests.spec_of(site.conf, instance, block_devices=block_devices)
    wanted = claims.amounts(spec)
    try:
        site.claims.claim(node, instance.uuid, wanted, site.inventory.limits(node))
    except exception.NoCapacity:
        if not site.inventory.reread_ratios(node):
            raise
        site.claims.claim(node, instance.uuid, wanted, site.inventory.limits(node))


def connect(site, ctxt, node, instance, block_devices):
    """Connect the node to the volumes, whose attachments were made for it.

    Returns the devices that are volumes, now with connection_info. Raises MoveRefused.
    """
    devices = [device for device in block_devices if device.get('attachment_id')]
    for device in devices:
        found = site.volume.get_attachment(ctxt, device.attachment_id)
        if not found['connection_info']:
            found = site.volume.update_attachment(
                ctxt,
                device.attachment_id,
                site.driver.get_volume_connector(node),
                mountpoint=device.get('device_name'),
            )
        device.connection_info = found['connection_info']
        if not site.driver.can_connect_volume(node, device.connection_info):
            raise exception.MoveRefused(
                host=node,
                instance_uuid=instance.uuid,
                reason=f'it has no path to volume {device.volume_id}',
            )
    return devices


def complete(site, ctxt, devices):
    """Say that the node has the volumes; returns what the record must know of them."""
    for device in devices:
        site.volume.complete_attachment(ctxt, device.attachment_id)
    return [{'uuid': device.uuid, 'connection_info': device.connection_info} for device in devices]
