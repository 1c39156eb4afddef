"""The actions createImage and createBackup: an image of a server.

The image is made here, queued; the host uploads to it. Of a server that boots from
a volume no disk is uploaded: its volumes are snapshotted, and the image names these.
"""

import dataclasses
import json

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite import transitions
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import schema_parts
from nova_lite.api.servers import acting
from nova_lite.clients import backups
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.policies import server_actions
from nova_lite.policies import servers as rules

LOG = log.getLogger(__name__)

PATH = '/servers/{server_id}/action'
EVENT = 'api_snapshot_instance'
BODY = schema_parts.body(
    'createImage',
    schema_parts.whole(
        {'name': schema_parts.NAME, 'metadata': schema_parts.METADATA}, required=['name']
    ),
)
BACKUP_BODY = schema_parts.body(
    'createBackup',
    schema_parts.whole(
        {
            'name': schema_parts.NAME,
            'backup_type': {'type': 'string'},
            'rotation': schema_parts.UNBOUNDED,
            'metadata': schema_parts.METADATA,
        },
        required=['name', 'backup_type', 'rotation'],
    ),
)


@operation.operation(
    'POST',
    PATH,
    action='createImage',
    policy=rules.CREATE_IMAGE,
    guard=transitions.SNAPSHOT,
    body={'2.1': BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def create_image(req, server):
    """Make an image; below 2.45 its address is in a header, then its id in the body."""
    _check_metadata(req)
    devices = acting.devices(server)
    if acting.boots_from_volume(devices):
        req.authorize(rules.CREATE_IMAGE_BFV, server.target)
        image = _of_volumes(req, server, devices)
    else:
        image = _of_disk(req, server, transitions.SNAPSHOT, 'createImage')
    return _answer(req, image)


@operation.operation(
    'POST',
    PATH,
    action='createBackup',
    policy=server_actions.CREATE_BACKUP,
    guard=transitions.BACKUP,
    body={'2.1': BACKUP_BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def create_backup(req, server):
    """Make an image. Then the host deletes the oldest ones of its kind beyond `rotation`.

    As in nova, a rotation of 0 deletes the new one too, so the answer does not name it.
    """
    _check_metadata(req)
    if acting.boots_from_volume(acting.devices(server)):
        raise exception.Invalid('Backup is not supported for volume-backed instances.')
    kept, kind = int(req.content['rotation']), req.content['backup_type']
    options = {'backup_type': kind, 'rotation': kept}
    image = _of_disk(req, server, transitions.BACKUP, 'createBackup', **options)
    return _answer(req, image) if kept else None


def _check_metadata(req):
    metadata = req.content.get('metadata') or {}
    limits = req.app.api_db.read(quota.limits, req.conf, req.ctxt.project_id, req.ctxt.user_id)
    quota.require(limits['metadata_items'], len(metadata), 'metadata_items')


def _of_disk(req, server, guard, action, **options):
    """Begin, make the image, and have the host fill it. options: of backups.Order"""
    order = backups.Order(runtime.new_uuid(), req.ctxt.request_id, **options)
    instance = acting.begin(req, server, action, guard, system_metadata=order.note())
    try:
        image = _queue(req, server, order)
    except exception.NovaLiteError as error:
        _drop(req, order.image_id, error)
        server.cell.db.write(_give_up, req, server.uuid, str(guard.during), error.message)
        raise
    acting.send(req, server, 'snapshot_instance', instance=instance, image_id=image['id'])
    return image


def _drop(req, image_id, reason):
    """Delete an image that may have been made though the image service did not answer."""
    if not reason.transient:
        return
    try:
        req.app.image.delete(req.ctxt, image_id, missing_ok=True)
    except exception.NovaLiteError as error:
        LOG.warning('Image %s may exist without contents. Delete it: %s', image_id, error)


def _queue(req, server, order):
    properties = dict(req.content.get('metadata') or {})
    if order.backup_type is not None:
        properties['backup_type'] = order.backup_type
    return req.app.image.create_snapshot(
        req.ctxt,
        req.content['name'].strip(),
        server.row,
        base=_base(req, server),
        properties=properties,
        kind='snapshot' if order.backup_type is None else 'backup',
        image_id=order.image_id,
    )


def _base(req, server):
    """Return the image the server was made from, if it still exists."""
    if not server.row.image_ref:
        return None
    try:
        return req.app.image.get(req.ctxt, server.row.image_ref)
    except (exception.ImageNotFound, exception.Forbidden):
        return None


def _give_up(connection, req, uuid, task, message):
    instances.update(connection, uuid, {'task_state': None}, expect_task=(task,))
    _end(connection, req, uuid, error=message)


def _of_volumes(req, server, devices):
    """Snapshot the volumes, and create an image of them that servers can boot."""
    with_action = dataclasses.replace(transitions.SNAPSHOT, during=None)
    acting.swap(req, server, with_action, {'task_state': None}, action='createImage')
    mapping, made = [], []
    try:
        for device in devices:
            mapping.append(_mapped(req, device, made))
        image = _made_of(req, server, mapping)
    except exception.NovaLiteError as error:
        for snapshot_id in made:
            req.app.volume.delete_snapshot(req.ctxt, snapshot_id)
        server.cell.db.write(_end, req, server.uuid, error=error.message)
        raise
    server.cell.db.write(_end, req, server.uuid)
    return image


def _made_of(req, server, mapping):
    """Make an active image without data. mapping: the volumes that servers boot from"""
    properties = {
        **(req.content.get('metadata') or {}),
        # What no data is: Glance compares the two.
        'disk_format': 'raw',
        'bdm_v2': 'True',
        'root_device_name': server.row.root_device_name or '/dev/vda',
        'block_device_mapping': json.dumps(mapping),
    }
    image = req.app.image.create_snapshot(
        req.ctxt, req.content['name'].strip(), server.row, properties=properties
    )
    try:
        req.app.image.upload(req.ctxt, image['id'], b'')
    except exception.NovaLiteError:
        req.app.image.delete(req.ctxt, image['id'], missing_ok=True)
        raise
    return image


def _mapped(req, device, made):
    """Return the device as the image's block_device_mapping describes it."""
    found = {
        name: device.get(name)
        for name in ('boot_index', 'device_type', 'disk_bus', 'guest_format', 'volume_type')
    }
    found['delete_on_termination'] = device.delete_on_termination
    if device.volume_id is None:
        return {
            **found,
            'source_type': device.source_type,
            'destination_type': device.destination_type,
            'volume_size': device.volume_size,
        }
    name = f'snapshot for {req.content["name"]}'
    snapshot = req.app.volume.create_snapshot(req.ctxt, device.volume_id, name)
    made.append(snapshot['id'])
    return {
        **found,
        'source_type': 'snapshot',
        'destination_type': 'volume',
        'snapshot_id': snapshot['id'],
        'volume_size': snapshot['size'],
    }


def _end(connection, req, uuid, error=None):
    actions.record_event(
        connection, uuid, req.ctxt.request_id, EVENT, host=req.conf.host, error=error
    )


def _answer(req, image):
    if req.minor >= 45:
        return {'image_id': image['id']}
    return operation.Answer(headers={'Location': req.app.image.url_of(image['id'])})
