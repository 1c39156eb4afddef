"""The image of a rebuild: its effect on the server, and checks that both are compatible.

For a server that boots from a volume, the image from which the volume was made counts; from 2.93 on
the image is written onto the volume, below 2.93 the volume does not change.
"""

import dataclasses
import typing

from nova_lite import exception
from nova_lite import states
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_accept
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import create_properties
from nova_lite.api.servers import create_volumes
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import refusals
from nova_lite.objects import block_device

# The microversion from which the image is written to the root volume.
REIMAGE = 93
# The columns of a record that depend on the image.
COLUMNS = (
    'image_ref', 'image_properties', 'kernel_id', 'ramdisk_id', 'os_type', 'architecture',
    'auto_disk_config',
)  # fmt: skip


@dataclasses.dataclass
class Plan:
    """The change of a server's image.

    columns: new values of columns of its record; former: the present values of these columns
    image: the image in the format of sagas if it differs from the image of the server, else None
    reimage: id of the image to be written onto the root volume, or None
    boots_from_volume: whether the root disk is a volume
    """

    columns: dict[str, typing.Any]
    former: dict[str, typing.Any]
    image: session.Json | None
    reimage: str | None
    boots_from_volume: bool


def plan(
    req: request.Request, server: server_access.Server, image_id: str, disk_config: str | None
) -> Plan:
    """Return the Plan. Raise Invalid for an image from which the server cannot be made.

    disk_config: AUTO, MANUAL, or None to follow the image
    """
    row, image = server.row, create_flavor.image_of(req, image_id)
    root = _root_volume(server)
    if root is None:
        changed = row.image_ref != image['id']
    else:
        changed = _is_other(req, row, root, image)
    wanted = create_flavor.check(req, row.flavor, image, boots_from_volume=root is not None)
    create_flavor.require_sound(row.flavor, image)
    _check_topology(row, wanted)
    columns = _columns(image, disk_config)
    if root is not None:
        # A record without an image shows clients that the server boots from a volume.
        del columns['image_ref']
    properties = columns['image_properties']
    meta = create_accept.image_meta(image, properties, boots_from_volume=root is not None)
    return Plan(
        columns=columns,
        former={name: getattr(row, name) for name in columns},
        image=meta if changed else None,
        reimage=image['id'] if root is not None and req.minor >= REIMAGE else None,
        boots_from_volume=root is not None,
    )


def _check_topology(row: rows.Row, wanted: constraints.Constraints) -> None:
    """Raise ImageNUMATopologyRebuildConflict if the image would change the guest's nodes."""
    try:
        former = create_flavor.constraints_of(row.flavor, {'properties': row.image_properties})
    except exception.Invalid:
        return  # It was built before such images were refused.
    if former.topology != wanted.topology:
        raise refusals.ImageNUMATopologyRebuildConflict()


def _root_volume(server: server_access.Server) -> block_device.BlockDevice | None:
    """Return the block device of the volume that the server boots from, or None."""
    devices = acting.devices(server)
    if not acting.boots_from_volume(devices):
        return None
    return next(device for device in devices if device.boot_index == 0)


def _is_other(
    req: request.Request, row: rows.Row, root: block_device.BlockDevice, image: session.Json
) -> bool:
    """Return whether the root volume has another image. Raise ImageNotUsable below 2.93.

    From 2.93 raise VolumeNotUsable unless the server has the volume: the image is written to it.
    """
    try:
        volume = req.app.volume.get(req.ctxt, root.volume_id)
    except exception.VolumeNotFound:
        raise exception.VolumeNotUsable(volume_id=root.volume_id, reason='not found') from None
    origin = (volume['image'] or {}).get('id')
    if req.minor >= REIMAGE:
        _require_used(row, volume)
        create_volumes.check_size(image, volume['size'])
    elif origin != image['id']:
        raise exception.ImageNotUsable(
            image_id=image['id'],
            reason='Unable to rebuild with a different image for a volume-backed server.',
        )
    return bool(origin != image['id'])


def _require_used(row: rows.Row, volume: session.Json) -> None:
    # A rebuild that could not write the volume leaves another status, and another one mends that.
    is_broken = row.vm_state == states.VmState.ERROR and volume['status'] != 'available'
    if volume['status'] != 'in-use' and not is_broken:
        reason = f"its status is '{volume['status']}', and must be 'in-use'"
        raise exception.VolumeNotUsable(volume_id=volume['id'], reason=reason)


def _columns(image: session.Json, disk_config: str | None) -> dict[str, typing.Any]:
    properties = image['properties']
    columns = {
        'image_ref': image['id'],
        'image_properties': create_properties.of(image),
        'kernel_id': properties.get('kernel_id') or '',
        'ramdisk_id': properties.get('ramdisk_id') or '',
        'os_type': properties.get('os_type'),
        'architecture': properties.get('hw_architecture') or properties.get('architecture'),
        'auto_disk_config': create_flavor.disk_config(disk_config, properties),
    }
    return {name: columns[name] for name in COLUMNS}
