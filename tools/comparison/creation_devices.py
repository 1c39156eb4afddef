"""Block device mappings of new servers for tools.comparison.creation_cases.

Texts such as {volume} stand for objects of a cloud, see tools.comparison.creation_objects.
"""

from collections.abc import Iterator
import itertools
import typing

from nova_lite import runtime

Device: typing.TypeAlias = dict[str, typing.Any]

# {source_type: ids that it may have}. None: no id.
SOURCES: dict[str, tuple[str | None, ...]] = {
    'image': ('{image}', '{large_image}', '{unknown}', None),
    'volume': ('{boot_volume}', '{volume}', '{used_volume}', '{foreign_volume}', '{unknown}', None),
    'snapshot': ('{snapshot}', '{unknown}', None),
    'blank': (None, '{volume}'),
}
DESTINATIONS = 'volume', 'local', None
BOOT_INDEXES = 0, None, -1, 1
# {field: values}; each is tried in a device that is valid without it.
FIELDS: dict[str, tuple[object, ...]] = {
    'volume_size': (1, '1', 0, -1, '', None, 'x', 1.5, 2**31, 2**40),
    'boot_index': (0, '0', '', '-1', '01', -5, None, 'x', 1.0, 10**9),
    'delete_on_termination': (True, 'true', 'yes', '0', '', 'x', None),
    'device_type': ('disk', 'cdrom', 'floppy', 'lun', 'x', '', None, 'DISK'),
    'disk_bus': ('virtio', 'scsi', 'ide', 'sata', 'usb', 'fdc', 'xen', 'lxc', 'nvme', 'x', '', None),
    'guest_format': ('ext4', 'swap', 'luks', 'x', '', None, 256 * 'x'),
    'volume_type': ('{volume_type}', '{volume_type_name}', 'unknown', '', None, '{unknown}'),
    'tag': ('a', '', 'a,b', 'a/b', 60 * 't', 61 * 't', None),
    'device_name': ('vda', '/dev/vda', 'vdb', '/dev/sda', 'x', '', '/dev/vd b', None, '/dev/hda'),
    'no_device': (True, False, '', None, 'x'),
    'destination_type': ('x', '', None),
    'source_type': ('x', '', None),
    'uuid': ('', 'x', 37 * 'x', None, 1),
    'image_id': ('{image}', '{unknown}', 'x', None),
    'volume_id': ('{volume}', '{unknown}', 'x', None),
    'snapshot_id': ('{snapshot}', '{unknown}', 'x', None),
    'virtual_name': ('ephemeral0', 'swap', 'root', 'ami', '', None),
    'connection_info': ('{}', '', None),
    'unknown': (1,),
}  # fmt: skip
# A device of each kind that creates or uses something.
ROOT_VOLUME: Device = {
    'source_type': 'image',
    'destination_type': 'volume',
    'uuid': '{image}',
    'volume_size': 1,
    'boot_index': 0,
}
LOCAL_ROOT: Device = {
    'source_type': 'image',
    'destination_type': 'local',
    'uuid': '{image}',
    'boot_index': 0,
}
BLANK_VOLUME: Device = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
SWAP: Device = {
    'source_type': 'blank',
    'destination_type': 'local',
    'guest_format': 'swap',
    'volume_size': 1,
}
EPHEMERAL: Device = {'source_type': 'blank', 'destination_type': 'local', 'volume_size': 1}
DATA: Device = {'source_type': 'volume', 'destination_type': 'volume', 'uuid': '{volume}'}
BOOT_VOLUME: Device = {**DATA, 'uuid': '{boot_volume}', 'boot_index': 0}
SNAPSHOT: Device = {
    'source_type': 'snapshot',
    'destination_type': 'volume',
    'uuid': '{snapshot}',
    'boot_index': 0,
}
GOOD = ROOT_VOLUME, LOCAL_ROOT, BLANK_VOLUME, SWAP, EPHEMERAL, DATA, BOOT_VOLUME, SNAPSHOT
# Lists of several devices.
LISTS: tuple[list[Device], ...] = (
    [],
    [{}],
    [LOCAL_ROOT, ROOT_VOLUME],
    [LOCAL_ROOT, DATA],
    [LOCAL_ROOT, {**DATA, 'boot_index': 1}],
    [LOCAL_ROOT, {**DATA, 'boot_index': 2}],
    [LOCAL_ROOT, {**BLANK_VOLUME, 'boot_index': -1}],
    [{**ROOT_VOLUME, 'boot_index': 1}, {**BLANK_VOLUME, 'boot_index': 0}],
    [ROOT_VOLUME, BOOT_VOLUME],
    [BOOT_VOLUME, {**DATA, 'uuid': '{boot_volume}'}],
    [LOCAL_ROOT, DATA, DATA],
    [LOCAL_ROOT, SWAP],
    [LOCAL_ROOT, SWAP, SWAP],
    [LOCAL_ROOT, EPHEMERAL],
    [LOCAL_ROOT, EPHEMERAL, EPHEMERAL],
    [LOCAL_ROOT, {**EPHEMERAL, 'volume_size': 3}],
    [LOCAL_ROOT, SWAP, EPHEMERAL, DATA],
    [LOCAL_ROOT, {**SWAP, 'volume_size': None}],
    [LOCAL_ROOT, {**DATA, 'tag': 'a'}, {**BLANK_VOLUME, 'tag': 'a'}],
    [LOCAL_ROOT, {**DATA, 'device_name': 'vdb'}, {**BLANK_VOLUME, 'device_name': '/dev/vdb'}],
    [ROOT_VOLUME, EPHEMERAL, SWAP],
    [SNAPSHOT, BLANK_VOLUME],
    [LOCAL_ROOT, *5 * [BLANK_VOLUME]],
)
# Values of block_device_mapping.
LEGACY: tuple[list[Device], ...] = (
    [],
    [{}],
    [{'volume_id': '{boot_volume}'}],
    [{'volume_id': '{boot_volume}', 'device_name': 'vda'}],
    [{'volume_id': '{volume}', 'device_name': '/dev/vda'}],
    [{'volume_id': '{volume}', 'device_name': 'vdb', 'delete_on_termination': True}],
    [{'volume_id': '{volume}'}, {'volume_id': '{boot_volume}', 'device_name': 'vda'}],
    [{'volume_id': '{unknown}', 'device_name': 'vdb'}],
    [{'volume_id': '{used_volume}', 'device_name': 'vdb'}],
    [{'volume_id': 'x', 'device_name': 'vdb'}],
    [{'snapshot_id': '{snapshot}', 'device_name': 'vda'}],
    [{'snapshot_id': '{snapshot}', 'device_name': 'vdb', 'volume_size': 2}],
    [{'snapshot_id': '{snapshot}', 'volume_id': '{volume}', 'device_name': 'vdb'}],
    [{'snapshot_id': '{unknown}', 'device_name': 'vdb'}],
    [{'virtual_name': 'swap', 'device_name': 'vdb'}],
    [{'virtual_name': 'ephemeral0', 'device_name': 'vdb'}],
    [{'virtual_name': 'root', 'device_name': 'vda'}],
    [{'virtual_name': 'x', 'device_name': 'vdb'}],
    [{'device_name': 'vdb', 'no_device': True}],
    [{'device_name': 'vdb'}],
    [{'volume_id': '{volume}', 'device_name': 'vdb', 'volume_size': -1}],
    [{'volume_id': '{volume}', 'source_type': 'volume'}],
    [{'volume_id': '{volume}', 'device_name': 'vdb'}] * 2,
)


def fixed() -> Iterator[list[Device]]:
    """Yield the lists of devices that are not random."""
    yield from LISTS
    for source, identifiers in SOURCES.items():
        for identifier, destination, boot_index in itertools.product(
            identifiers, DESTINATIONS, BOOT_INDEXES
        ):
            device = {
                'source_type': source,
                'destination_type': destination,
                'uuid': identifier,
                'boot_index': boot_index,
                'volume_size': 1 if destination == 'volume' and source != 'volume' else None,
            }
            yield [{name: value for name, value in device.items() if value is not None}]
    for name, values in FIELDS.items():
        for value, device in itertools.product(values, GOOD):
            yield [{**device, name: value}]


def drawn(chance: runtime.Random) -> list[Device]:
    """Return one to three random devices, the first of which is often a root."""
    count = chance.choice((1, 1, 2, 2, 3))
    found = [_drawn(chance) for _each in range(count)]
    if chance.random() < 0.5:
        found[0] = {**chance.choice((LOCAL_ROOT, ROOT_VOLUME, BOOT_VOLUME, SNAPSHOT))}
    return found


def _drawn(chance: runtime.Random) -> Device:
    device = dict(chance.choice(GOOD))
    if chance.random() < 0.3:
        source = chance.choice(list(SOURCES))
        device = {'source_type': source, 'uuid': chance.choice(SOURCES[source])}
        if device['uuid'] is None:
            del device['uuid']
        device['destination_type'] = chance.choice(('volume', 'local'))
    for name in chance.sample(list(FIELDS), chance.choice((0, 0, 1, 1, 2))):
        device[name] = chance.choice(FIELDS[name])
    return device
