"""Volumes, snapshots and images behind the block devices of new servers.

Source: reference/nova/create-server 1.5.
"""

from nova_lite import exception
from nova_lite.api.servers import create_devices
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import volume_owners

GIB = 1 << 30
MULTIATTACH = 60


def check(req, plan):
    """Look at everything the devices name; returns what the root disk is made from.

    That is an image as the image client has it, or None where nothing is known.
    Raises Invalid.
    """
    root = create_devices.root_of(plan.devices)
    boot_image = plan.image
    for device in plan.devices:
        found = _check_one(req, plan, device)
        if device is root and device['destination_type'] == create_devices.VOLUME:
            boot_image = found
    return boot_image


def _check_one(req, plan, device):
    if device['destination_type'] != create_devices.VOLUME:
        return None
    if device['volume_type']:
        req.app.volume.require_type(req.ctxt, device['volume_type'])
    source = device['source_type']
    if source == 'volume':
        return _check_volume(req, plan, device)
    if source == 'snapshot':
        return _check_snapshot(req, device)
    if source == 'image':
        return _check_image(req, device)
    return None


def _check_volume(req, plan, device):
    volume_id = device['volume_id']
    try:
        volume = req.app.volume.get(req.ctxt, volume_id)
    except exception.VolumeNotFound:
        raise exception.VolumeNotUsable(volume_id=volume_id, reason='not found') from None
    if volume['multiattach']:
        if req.minor < MULTIATTACH:
            raise exception.VolumeNotUsable(
                volume_id=volume_id, reason='multiattach needs microversion 2.60'
            )
    elif plan.most > 1:
        raise exception.VolumeNotUsable(
            volume_id=volume_id, reason='it cannot be attached to several servers'
        )
    # A server with an image boots from a volume as asked, whatever the volume holds.
    if device['boot_index'] == 0 and plan.image is None and not volume['bootable']:
        raise exception.VolumeNotUsable(volume_id=volume_id, reason='it is not bootable')
    req.app.volume.check_attachable(volume, availability_zone=_zone(req, plan, volume))
    volume_owners.require_none(req, volume)
    return volume['image']


def _zone(req, plan, volume):
    """Return the zone that volumes have to be in, which the first one decides for the server."""
    if req.conf.cinder.cross_az_attach:
        return None
    if plan.volume_zone is None:
        default = req.conf.default_availability_zone
        if plan.zone is None and volume['availability_zone'] != default:
            plan.zone = volume['availability_zone']
        plan.volume_zone = plan.zone or default
    return plan.volume_zone


def _check_snapshot(req, device):
    snapshot_id = device['snapshot_id']
    try:
        snapshot = req.app.volume.get_snapshot(req.ctxt, snapshot_id)
    except exception.SnapshotNotFound:
        raise exception.InvalidBDM(reason=f'failed to get snapshot {snapshot_id}.') from None
    device['volume_size'] = device['volume_size'] or snapshot['size']
    if device['boot_index'] != 0:
        return None
    try:
        return req.app.volume.get(req.ctxt, snapshot['volume_id'])['image']
    except exception.VolumeNotFound:
        return None


def _check_image(req, device):
    image = create_flavor.image_of(req, device['image_id'])
    check_size(image, device['volume_size'])
    return image


def check_size(image, size):
    """Raise InvalidBDM for an image that does not fit onto a volume of `size` GiB."""
    if image['min_disk'] > size:
        raise exception.InvalidBDM(
            reason=f'Volume is smaller than the minimum size specified in image metadata. Volume '
            f'size is {size} GiB, minimum size is {image["min_disk"]} GiB.'
        )
    if (image['size'] or 0) > size * GIB:
        raise exception.InvalidBDM(reason='Volume is smaller than the image.')
