"""Block devices of new servers: both forms of the body to one list of columns.

Source: reference/nova/create-server 1.5.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import json
import typing

from oslo_utils import strutils

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import schema_parts
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.lifecycle.guests import images

# Columns of a block device that exist before it belongs to a server.
Device: typing.TypeAlias = dict[str, typing.Any]

LOCAL, VOLUME = 'local', 'volume'
SOURCES = ('volume', 'snapshot', 'image')
BUSES = frozenset((
    'virtio', 'scsi', 'sata', 'ide', 'usb', 'fdc', 'xen', 'lxc', 'uml', 'sd',
))  # fmt: skip
SWAP = 'swap'
ROOT = 'vda', '/dev/vda'
ROOT_NAMES = (*ROOT, 'sda', '/dev/sda')
COLUMNS = (
    'source_type', 'destination_type', 'guest_format', 'device_type', 'disk_bus', 'device_name',
    'boot_index', 'delete_on_termination', 'volume_id', 'snapshot_id', 'image_id', 'volume_size',
    'volume_type', 'tag', 'attachment_id',
)  # fmt: skip


def parse(server: operation.Body, image: session.Json | None) -> list[Device]:
    """Return the devices of a body, completed by those of the image. Raise InvalidBDM.

    image: the image of imageRef in the format of the image client, or None
    """
    image_id = image['id'] if image else None
    legacy, second = server.get('block_device_mapping'), server.get('block_device_mapping_v2')
    if legacy and second:
        raise exception.Invalid(
            'Using different block_device_mapping syntaxes is not allowed in the same request.'
        )
    if legacy:
        devices = _from_legacy(legacy, image_id)
    else:
        kept = (item for item in second or () if not item.get('no_device') or _is_root(item))
        devices = [_device(item) for item in kept]
    roots = [device for device in devices if device['boot_index'] == 0]
    if image:
        _check_names(devices)
    if image and not roots:
        named = of_image(image)
        if second and not named:
            # As nova, which adds the image to the first form only.
            raise exception.InvalidBDMBootSequence()
        devices[:0] = named or [_root(image['id'])]
    _check_boot_order(devices, image_id)
    return devices


def _root(image_id: str) -> Device:
    return _columns(
        source_type='image',
        destination_type=LOCAL,
        device_type='disk',
        image_id=image_id,
        boot_index=0,
        delete_on_termination=True,
    )


def _columns(**values: typing.Any) -> Device:
    return {**dict.fromkeys(COLUMNS), 'delete_on_termination': False, **values}


def of_image(image: session.Json) -> list[Device]:
    """Return the devices that an image of a server with volumes names, if it boots from them."""
    text = image['properties'].get('block_device_mapping')
    if not text or not strutils.bool_from_string(image['properties'].get('bdm_v2')):
        return []
    try:
        items = json.loads(text) if isinstance(text, str) else text
        devices = [_device(item) for item in items]
    except (
        ArithmeticError,
        AttributeError,
        KeyError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise exception.InvalidBDM(
            reason=f'image {image["id"]} has an invalid block_device_mapping.'
        ) from error
    return devices if any(device['boot_index'] == 0 for device in devices) else []


# ---- the second form ----


def _device(item: session.Json) -> Device:
    if 'virtual_name' in item:
        raise exception.InvalidBDM(
            reason='virtual_name is a field of block_device_mapping, not of '
            'block_device_mapping_v2.'
        )
    source, identifier = _source(item)
    destination = item.get('destination_type') or (
        VOLUME if source in ('volume', 'snapshot') else LOCAL
    )
    if source in ('volume', 'snapshot') and destination == LOCAL:
        raise exception.InvalidBDM(
            reason=f'Mapping of source_type {source} to destination_type local is not supported.'
        )
    size = _size(item)
    if destination == VOLUME and source in ('image', 'blank') and not size:
        raise exception.InvalidBDM(
            reason=f'A device of source_type {source} and destination_type volume needs a '
            'volume_size.'
        )
    volume_type = item.get('volume_type') or None
    if volume_type and (destination == LOCAL or source == VOLUME):
        raise exception.InvalidBDM(
            reason='volume_type applies only to a volume that is created, not to '
            'destination_type local or an existing volume.'
        )
    if item.get('disk_bus') and item['disk_bus'] not in BUSES:
        raise exception.InvalidBDM(reason=f'Disk bus {item["disk_bus"]} is invalid.')
    if item.get('device_type') is not None and item['device_type'] not in images.DEVICE_TYPES:
        known = ', '.join(sorted(images.DEVICE_TYPES))
        raise exception.InvalidBDM(reason=f'Device type {item["device_type"]} is none of {known}.')
    found = _columns(
        source_type=source,
        destination_type=destination,
        guest_format=item.get('guest_format'),
        device_type=item.get('device_type'),
        disk_bus=item.get('disk_bus'),
        device_name=item.get('device_name'),
        boot_index=_boot_index(item),
        delete_on_termination=schema_parts.is_true(item.get('delete_on_termination', False)),
        volume_size=size,
        volume_type=volume_type,
        tag=item.get('tag'),
    )
    if identifier is not None:
        found[f'{source}_id'] = identifier
    return found


def _source(item: session.Json) -> tuple[str, str | None]:
    """Return (source_type, id), where a single given id implies the source_type."""
    named = [source for source in SOURCES if item.get(f'{source}_id')]
    source = item.get('source_type') or (named[0] if named else None)
    if source not in (*SOURCES, 'blank'):
        raise exception.InvalidBDM(reason='A device needs a source_type.')
    own, given = item.get(f'{source}_id'), item.get('uuid')
    identifier = given or own
    others = [name for name in named if name != source]
    if others and source != 'blank':
        raise exception.InvalidBDM(
            reason=f'{others[0]}_id cannot be given with source_type {source}.'
        )
    if own and given and own != given:
        raise exception.InvalidBDM(reason=f'uuid and {source}_id are different.')
    if source == 'blank':
        if identifier or named:
            raise exception.InvalidBDM(reason='A blank device has no uuid.')
        return source, None
    if not identifier:
        raise exception.InvalidBDM(reason='Missing device UUID.')
    if not isinstance(identifier, str) or len(identifier) > 36:
        raise exception.InvalidBDM(reason=f'Invalid device UUID {identifier}.')
    return source, identifier


def _size(item: session.Json) -> int | None:
    size = item.get('volume_size')
    return None if size in (None, '') else int(size)


def _boot_index(item: session.Json) -> int | None:
    value = item.get('boot_index')
    if value is None or int(value) < 0:
        return None
    return int(value)


def _is_root(item: session.Json) -> bool:
    return _boot_index(item) == 0


# ---- the first form ----


def _from_legacy(items: session.Jsons, image_id: str | None) -> list[Device]:
    devices = [_legacy_device(item) for item in items if not item.get('no_device')]
    if not image_id:
        volumes = [device for device in devices if device['destination_type'] == VOLUME]
        named = [device for device in volumes if device['device_name'] in ROOT_NAMES]
        for device in (named or volumes)[:1]:
            device['boot_index'] = 0
    return devices


def _legacy_device(item: session.Json) -> Device:
    virtual = item.get('virtual_name') or ''
    more = {
        'device_name': item.get('device_name'),
        'volume_size': _size(item),
        'delete_on_termination': schema_parts.is_true(item.get('delete_on_termination', False)),
    }
    if virtual == SWAP or virtual.startswith('ephemeral'):
        guest_format = SWAP if virtual == SWAP else None
        return _columns(
            source_type='blank', destination_type=LOCAL, guest_format=guest_format, **more
        )
    for source in ('volume', 'snapshot'):
        if item.get(f'{source}_id'):
            more[f'{source}_id'] = item[f'{source}_id']
            return _columns(source_type=source, destination_type=VOLUME, **more)
    raise exception.InvalidBDM(
        reason='A device needs a volume_id, a snapshot_id, or a virtual_name that is swap or begins '
        'with ephemeral.'
    )


# ---- all devices together ----


def _check_boot_order(devices: Sequence[Device], image_id: str | None) -> None:
    order = sorted(d['boot_index'] for d in devices if d['boot_index'] is not None)
    if not order and not image_id:
        if devices:
            raise exception.InvalidBDMBootSequence()
        raise exception.Invalid('Invalid imageRef provided: a server needs an image or a volume.')
    if order != list(range(len(order))):
        raise exception.InvalidBDMBootSequence()
    for device in devices:
        if device['source_type'] != 'image' or device['destination_type'] != LOCAL:
            continue
        if device['boot_index'] != 0 or device['image_id'] != image_id:
            raise exception.InvalidBDM(
                reason='An image can be the source of a local device only as the root disk, '
                'with the imageRef of the server.'
            )


def _check_names(devices: Sequence[Device]) -> None:
    """Refuse volumes with the device name of the root disk, if the server has an image."""
    for device in devices:
        if device['destination_type'] == VOLUME and device['device_name'] in ROOT:
            raise exception.InvalidBDM(
                reason=f'{device["device_name"]} is the name of the root device.'
            )


def root_of(devices: Iterable[Device]) -> Device:
    """Return the block device that a server boots from."""
    return next(device for device in devices if device['boot_index'] == 0)


def flavor_disks(devices: Sequence[Device], flavor: rows.Row) -> list[Device]:
    """Return the swap and ephemeral disks of the flavor that no device of the body replaces."""
    swap, ephemeral = _blanks(devices)
    found = []
    if flavor.swap and not swap:
        found.append(_blank(SWAP, flavor.swap))
    if flavor.ephemeral_gb and not ephemeral:
        found.append(_blank(None, flavor.ephemeral_gb))
    return found


def _blank(guest_format: str | None, size: int) -> Device:
    return _columns(
        source_type='blank',
        destination_type=LOCAL,
        guest_format=guest_format,
        device_type='disk',
        volume_size=size,
        delete_on_termination=True,
    )


def _blanks(devices: Iterable[Device]) -> tuple[list[Device], list[Device]]:
    local = [
        device
        for device in devices
        if device['source_type'] == 'blank' and device['destination_type'] == LOCAL
    ]
    swap = [device for device in local if device['guest_format'] == SWAP]
    return swap, [device for device in local if device['guest_format'] != SWAP]


def check_local(devices: Sequence[Device], flavor: rows.Row, most: int) -> None:
    """Raise InvalidBDM when local disks exceed the flavor or [DEFAULT] (`most`)."""
    swap, ephemeral = _blanks(devices)
    if len(swap) > 1:
        raise exception.InvalidBDM(reason='More than one swap drive requested.')
    if sum(device['volume_size'] or 0 for device in swap) > flavor.swap:
        raise exception.InvalidBDM(reason='Swap drive requested is larger than flavor allows.')
    wanted = sum(device['volume_size'] or flavor.ephemeral_gb for device in ephemeral)
    if ephemeral and wanted > flavor.ephemeral_gb:
        raise exception.InvalidBDM(
            reason='Ephemeral disks requested are larger than the flavor allows.'
        )
    local = [device for device in devices if device['destination_type'] == LOCAL]
    if 0 <= most < len(local):
        raise exception.InvalidBDM(reason='You specified more local devices than the limit allows')
