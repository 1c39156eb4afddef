"""POST /servers/{server_id}/os-volume_attachments: attach a volume.

Before 2.101 the answer waits until the volume is reserved, so that it contains a refusal of the
volume service; the work of the host follows. Source: reference/nova/api-surface 2.3.
"""

import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.api.servers import source_host
from nova_lite.api.servers import volume_attachments
from nova_lite.api.servers import volume_owners
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.states import transitions

MULTIATTACH, ASYNCHRONOUS = 60, 101
SHELVED_OFFLOADED = states.VmState.SHELVED_OFFLOADED
# A device name such as /dev/xvda1. Clients may request a whole disk or a partition.
DEVICE = {
    'type': ['string', 'null'],
    'pattern': r'(^/dev/x{0,1}[a-z]{0,1}d{0,1})([a-z]+)[0-9]*$',
    'maxLength': 255,
}
_V1 = schema_parts.whole({'volumeId': schema_parts.UUID, 'device': DEVICE}, required=['volumeId'])
_V49 = schema.extended(_V1, tag=schema_parts.TAG)
_V79 = schema.extended(_V49, delete_on_termination=schema_parts.BOOLEAN)
KEY = 'volumeAttachment'


class MultiattachNotSupported(exception.Invalid):
    msg = 'Multiattach volumes are only supported starting with compute API version 2.60.'


class NotWhileOffloaded(exception.Invalid):
    msg = '%(what)s is not supported for shelved-offloaded instances.'


@operation.operation(
    'POST',
    volume_attachments.PATH,
    policy=rules.VOLUMES_ATTACH,
    guard=transitions.ATTACH_VOLUME,
    body={
        '2.1': schema_parts.body(KEY, _V1),
        '2.49': schema_parts.body(KEY, _V49),
        '2.79': schema_parts.body(KEY, _V79),
    },
    success=200,
    faults=(400, 403, 404, 409),
)
def attach(req: request.Request, server: server_access.Server) -> operation.Result:
    """Attach a volume with the requested device name or a free one."""
    asked = req.content
    devices.require_shelvable(req, server, transitions.ATTACH_VOLUME)
    acting.require_cell(server)
    volume = req.app.volume.get(req.ctxt, asked['volumeId'])
    _check(req, server, volume, asked)
    device = _device_of(asked, volume)
    uuid = devices.begin(
        req,
        server,
        kind='attach-volume',
        guard=transitions.ATTACH_VOLUME,
        arguments={'device': device['uuid'], 'volume_id': volume['id']},
        device=device,
        most_devices=_most_devices(req, server),
    )
    if req.minor >= ASYNCHRONOUS:
        return operation.Answer(status=202)
    named = volume_attachments.found(server, volume['id'])
    devices.wait(req, uuid)
    if named is None:
        # A super-conductor made the first transaction, and the server may be in another cell now.
        server.follow(server_access.load(req, server.uuid))
    return {KEY: _view(req, server, named or volume_attachments.find(server, volume['id']))}


def _check(
    req: request.Request, server: server_access.Server, volume: session.Json, asked: operation.Body
) -> None:
    """Refuse a volume that cannot be attached, before the saga begins."""
    offloaded = server.row.vm_state == SHELVED_OFFLOADED
    if volume['multiattach']:
        if req.minor < MULTIATTACH:
            raise MultiattachNotSupported()
        if offloaded:
            raise NotWhileOffloaded(what='Attaching multiattach volumes')
    if offloaded and 'tag' in asked:
        raise NotWhileOffloaded(what='Tagged volume attachment')
    known = server.cell.db.read(children.block_devices, [server.uuid]).get(server.uuid, ())
    if any(device.volume_id == volume['id'] for device in known):
        raise exception.VolumeNotUsable(
            volume_id=volume['id'], reason='it is already attached to this server'
        )
    volume_owners.require_none(req, volume)
    req.app.volume.check_attachable(
        volume, instance_uuid=server.uuid, availability_zone=server.row.availability_zone
    )
    if not offloaded:
        acting.require_host(server)
        source_host.require_up(req, server)


def _most_devices(req: request.Request, server: server_access.Server) -> int | None:
    """Return the largest number of block devices of the server, None if it is on no host."""
    offloaded = server.row.vm_state == SHELVED_OFFLOADED
    return None if offloaded else req.conf.compute.max_disk_devices_to_attach


def _device_of(asked: operation.Body, volume: session.Json) -> dict[str, typing.Any]:
    """Return the columns of the new block device, which gets its name when it is recorded."""
    return {
        'uuid': runtime.new_uuid(),
        'source_type': 'volume',
        'destination_type': 'volume',
        'device_type': None,
        'disk_bus': None,
        'device_name': asked.get('device') or None,
        'boot_index': None,
        'delete_on_termination': schema_parts.is_true(asked.get('delete_on_termination', False)),
        'volume_id': volume['id'],
        'volume_size': volume['size'],
        'tag': asked.get('tag'),
    }


def _view(req: request.Request, server: server_access.Server, device: rows.Row) -> session.Json:
    """Return the answer, which keeps `id` that lists lose with 2.89, and has no new fields."""
    shown = {
        'id': device.volume_id,
        'volumeId': device.volume_id,
        'serverId': server.uuid,
        'device': device.device_name,
    }
    if req.minor >= volume_attachments.TAGS_SHOWN:
        shown['tag'] = device.tag
    if req.minor >= volume_attachments.TERMINATION_SHOWN:
        shown['delete_on_termination'] = device.delete_on_termination
    return shown
