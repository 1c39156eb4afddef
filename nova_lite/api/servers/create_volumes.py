"""Volumes, snapshots and images behind the block devices of new servers.

Source: reference/nova/create-server 1.5.
"""

import dataclasses
import typing

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api.servers import create_devices
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import create_plan
from nova_lite.api.servers import volume_owners
from nova_lite.clients import session

GIB = 1 << 30
MULTIATTACH = 60


@dataclasses.dataclass(frozen=True)
class Sources:
    """The origin of the devices of new servers.

    boot_image: the image of the root disk in the format of the image client; None if unknown
    devices: with the sizes of their snapshots
    zone: availability zone of the servers
    """

    boot_image: session.Json | None
    devices: list[create_devices.Device]
    zone: str | None


def check(req: request.Request, asked: create_plan.Asked) -> Sources:
    """Check the volumes, snapshots and images of the devices. Return Sources. Raise Invalid."""
    zone = _Zone(req, asked.place.zone)
    boot_image, devices = asked.image, []
    for device in asked.devices:
        is_volume = device['destination_type'] == create_devices.VOLUME
        found = _check_one(req, asked, device, zone) if is_volume else _Source(None)
        if is_volume and device['boot_index'] == 0:
            boot_image = found.image
        size = device['volume_size'] if found.size is None else found.size
        devices.append({**device, 'volume_size': size})
    return Sources(boot_image, devices, zone.of_server)


class _Source(typing.NamedTuple):
    """The source of a device. image: if known; size: in GiB, for a device that states none"""

    image: session.Json | None
    size: int | None = None


class _Zone:
    """The availability zone of new servers: requested, or that of their first volume."""

    def __init__(self, req: request.Request, asked: str | None) -> None:
        self.of_server = asked
        self._of_volumes: str | None = None
        self._default: str = req.conf.default_availability_zone
        self._is_free = req.conf.cinder.cross_az_attach

    def require(self, volume: session.Json) -> str | None:
        """Return the zone that a volume must be in, None for any."""
        if self._is_free:
            return None
        if self._of_volumes is None:
            if self.of_server is None and volume['availability_zone'] != self._default:
                self.of_server = volume['availability_zone']
            self._of_volumes = self.of_server or self._default
        return self._of_volumes


def _check_one(
    req: request.Request, asked: create_plan.Asked, device: create_devices.Device, zone: _Zone
) -> _Source:
    if device['volume_type']:
        req.app.volume.require_type(req.ctxt, device['volume_type'])
    source = device['source_type']
    if source == 'volume':
        return _Source(_check_volume(req, asked, device, zone))
    if source == 'snapshot':
        return _check_snapshot(req, device)
    if source == 'image':
        return _Source(_check_image(req, device))
    return _Source(None)


def _check_volume(
    req: request.Request, asked: create_plan.Asked, device: create_devices.Device, zone: _Zone
) -> session.Json | None:
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
    elif asked.most > 1:
        raise exception.VolumeNotUsable(
            volume_id=volume_id, reason='it cannot be attached to several servers'
        )
    # With an image in the request, the contents of the volume do not matter.
    if device['boot_index'] == 0 and asked.image is None and not volume['bootable']:
        raise exception.VolumeNotUsable(volume_id=volume_id, reason='it is not bootable')
    req.app.volume.check_attachable(volume, availability_zone=zone.require(volume))
    volume_owners.require_none(req, volume)
    image: session.Json | None = volume['image']
    return image


def _check_snapshot(req: request.Request, device: create_devices.Device) -> _Source:
    snapshot_id = device['snapshot_id']
    try:
        snapshot = req.app.volume.get_snapshot(req.ctxt, snapshot_id)
    except exception.SnapshotNotFound:
        raise exception.InvalidBDM(reason=f'failed to get snapshot {snapshot_id}.') from None
    size = device['volume_size'] or snapshot['size']
    if device['boot_index'] != 0:
        return _Source(None, size)
    try:
        return _Source(req.app.volume.get(req.ctxt, snapshot['volume_id'])['image'], size)
    except exception.VolumeNotFound:
        return _Source(None, size)


def _check_image(req: request.Request, device: create_devices.Device) -> session.Json:
    image = create_flavor.image_of(req, device['image_id'])
    check_size(image, device['volume_size'])
    return image


def check_size(image: session.Json, size: int) -> None:
    """Raise InvalidBDM if an image does not fit onto a volume of `size` GiB."""
    if image['min_disk'] > size:
        raise exception.InvalidBDM(
            reason=f'Volume is smaller than the minimum size specified in image metadata. Volume '
            f'size is {size} GiB, minimum size is {image["min_disk"]} GiB.'
        )
    if (image['size'] or 0) > size * GIB:
        raise exception.InvalidBDM(reason='Volume is smaller than the image.')
