"""Volumes, from the representation of the volume service."""

import datetime

from oslo_utils import timeutils

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import session


def of(body: session.Json) -> session.Json:
    """Return a volume from the service's representation. size is in GiB.

    attachments: {server uuid: {'attachment_id', 'host', 'mountpoint'}}; if a server has several
        attachments, as during a move, any of them. Only administrators get the host
    changed_at: time of the last change of its record
    image: {'properties', 'min_disk', 'min_ram', …} of the image of the volume
    """
    metadata = dict(body.get('volume_image_metadata') or {})
    return {
        'id': body['id'],
        'name': body.get('name'),
        'status': body['status'],
        'size': body['size'],
        'changed_at': _time(body.get('updated_at') or body.get('created_at')),
        'bootable': body.get('bootable') in (True, 'true', 'True'),
        'multiattach': bool(body.get('multiattach')),
        'encrypted': bool(body.get('encrypted')),
        'availability_zone': body.get('availability_zone'),
        'volume_type': body.get('volume_type'),
        'snapshot_id': body.get('snapshot_id'),
        'migration_status': body.get('migration_status'),
        'project_id': body.get('os-vol-tenant-attr:tenant_id'),
        'metadata': body.get('metadata') or {},
        'image': _image(metadata) if metadata else None,
        'attachments': {
            item['server_id']: {
                'attachment_id': item.get('attachment_id'),
                'host': item.get('host_name'),
                'mountpoint': item.get('device'),
            }
            for item in body.get('attachments') or ()
            if item.get('server_id')
        },
    }


def require_type(types: session.Jsons, id_or_name: str) -> None:
    """Raise VolumeTypeNotFound unless one of the types has this id or name."""
    if not any(id_or_name in (each['id'], each['name']) for each in types):
        raise exception.VolumeTypeNotFound(id_or_name=id_or_name)


def _time(text: str | None) -> datetime.datetime:
    """Return a time that the service wrote in UTC without a zone; for None, the current time."""
    if text is None:
        return runtime.now()
    return timeutils.normalize_time(timeutils.parse_isotime(text)).replace(tzinfo=datetime.UTC)


def _image(metadata: dict[str, str]) -> session.Json:
    """Return the image record within a volume's metadata, whose values are all text."""
    image: session.Json = {
        'id': metadata.pop('image_id', None),
        'name': metadata.pop('image_name', None),
        'checksum': metadata.pop('checksum', None),
        'disk_format': metadata.pop('disk_format', None),
        'container_format': metadata.pop('container_format', None),
    }
    for name in ('min_disk', 'min_ram', 'size'):
        image[name] = _integer(metadata.pop(name, None))
    image['properties'] = metadata
    return image


def _integer(text: str | None) -> int:
    """Return the number in a text; 0 for another text, which users may set."""
    try:
        return int(text or 0)
    except ValueError:
        return 0
