"""Block devices that a server gets, loses or exchanges while it exists.

The caller has locked the server's row by changing it in the same transaction.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import itertools
import re
import string

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances

TABLE = children.DEVICES
DEFAULT_PREFIX = '/dev/vd'
PREFIX = re.compile(r'(/dev/x?[a-z]*d)[a-z]+\d*')


def add(
    connection: sa.Connection, instance_uuid: str, columns: rows.Values, most: int | None = None
) -> None:
    """Add a volume's block device. Without a device_name it gets the next free name.

    most: maximum number of the server's block devices; None or -1: no limit
    Raises VolumeNotUsable if the server has the volume already, DevicePathInUse and
    TooManyDevices.
    """
    known = children.block_devices(connection, [instance_uuid]).get(instance_uuid, ())
    if any(device.volume_id == columns['volume_id'] for device in known):
        raise already_attached(columns['volume_id'])
    if most is not None and 0 <= most <= len(known):
        raise exception.TooManyDevices(maximum=most)
    taken = {device.device_name for device in known}
    wanted = columns.get('device_name')
    if wanted in taken - {None}:
        raise exception.DevicePathInUse(path=wanted)
    name = wanted or next_name(known)
    children.create_block_devices(
        connection, [{**columns, 'instance_uuid': instance_uuid, 'device_name': name}]
    )


def next_name(known: Iterable[rows.Row]) -> str:
    """Return the first name that none of the block devices has, on the bus of the root disk."""
    taken = {device.device_name for device in known}
    roots = [device.device_name or '' for device in known if device.boot_index == 0]
    found = PREFIX.fullmatch(roots[0]) if roots else None
    prefix = found.group(1) if found else DEFAULT_PREFIX
    # A disk without a name will get one of the first names.
    unnamed = sum(1 for device in known if not device.device_name)
    free = (name for name in _names(prefix) if name not in taken)
    return next(itertools.islice(free, unnamed, None))


def _names(prefix: str) -> Iterator[str]:
    """Yield vda … vdz, vdaa, vdab …"""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield prefix + ''.join(letters)


def find(connection: sa.Connection, instance_uuid: str, volume_id: str) -> rows.Row | None:
    """Return the block device of a volume of a server, or None."""
    return rows.find(connection, TABLE, instance_uuid=instance_uuid, volume_id=volume_id)


def servers_with(connection: sa.Connection, volume_id: str) -> Sequence[rows.Row]:
    """Return the servers that have a volume, neither deleted nor hidden."""
    found = rows.every(connection, TABLE, volume_id=volume_id)
    return instances.of(connection, {device.instance_uuid for device in found}) if found else ()


def change(connection: sa.Connection, uuid: str, values: rows.Values) -> None:
    """Change columns of one block device. Raise VolumeNotAttached if it was deleted."""
    if not children.update_block_device(connection, uuid, values):
        raise gone(uuid)


def already_attached(volume_id: str) -> exception.VolumeNotUsable:
    """Return the error of a volume that the server has already."""
    return exception.VolumeNotUsable(
        volume_id=volume_id, reason='it is already attached to this server'
    )


def gone(uuid: str) -> exception.VolumeNotAttached:
    """Return the error of a block device that was deleted with its server."""
    return exception.VolumeNotAttached(
        f'Block device {uuid} does not exist: the server was deleted.'
    )
