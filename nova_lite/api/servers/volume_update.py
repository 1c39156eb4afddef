"""PUT /servers/{server_id}/os-volume_attachments/{volume_id}.

Before 2.85 the operation replaces an attached volume by another volume, which only the volume
service requests; from 2.85 it also changes delete_on_termination.
Source: reference/nova/api-surface 2.3 and 4.
"""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.api.servers import source_host
from nova_lite.api.servers import volume_attach
from nova_lite.api.servers import volume_attachments
from nova_lite.api.servers import volume_owners
from nova_lite.db import rows
from nova_lite.db.cell import devices as device_rows
from nova_lite.db.cell import instances
from nova_lite.states import transitions

CHANGES = 85
KEY = 'volumeAttachment'
_V1 = schema_parts.whole({'volumeId': schema_parts.UUID}, required=['volumeId'])
_V85 = schema.extended(
    _V1,
    id=schema_parts.UUID,
    serverId=schema_parts.UUID,
    device=volume_attach.DEVICE,
    tag=schema_parts.TAG,
    delete_on_termination=schema_parts.BOOLEAN,
)


class NotMutable(exception.Invalid):
    msg = 'The %(name)s property is not mutable'


class NotMigrating(exception.Conflict):
    msg = (
        'Volume %(volume_id)s is not migrating: only the volume service swaps volumes, when it '
        'moves one.'
    )


def rule(req: request.Request) -> str:
    """Return the rule of the policy, which differs if another volume replaces the volume."""
    same = req.content['volumeId'] == req.args['volume_id']
    return rules.VOLUMES_UPDATE if req.minor >= CHANGES and same else rules.VOLUMES_SWAP


@operation.operation(
    'PUT',
    volume_attachments.ONE,
    policy=rule,
    lock=True,
    body={'2.1': schema_parts.body(KEY, _V1), '2.85': schema_parts.body(KEY, _V85)},
    success=202,
    faults=(400, 403, 404, 409),
)
def update(req: request.Request, server: server_access.Server) -> None:
    """Change the attachment of a volume, and swap the volume if the body names another."""
    asked, volume_id = req.content, req.args['volume_id']
    if req.minor >= CHANGES:
        device = volume_attachments.find(server, volume_id)
        _change(req, server, device, asked)
        if asked['volumeId'] == volume_id:
            return
    _swap(req, server, volume_id, asked['volumeId'])


def _change(
    req: request.Request, server: server_access.Server, device: rows.Row, asked: operation.Body
) -> None:
    """Set delete_on_termination. All other given fields must have their present values."""
    fixed = {
        'id': device.volume_id,
        'serverId': server.uuid,
        'device': device.device_name,
        'tag': device.tag,
    }
    for name, value in fixed.items():
        if name in asked and asked[name] != value:
            raise NotMutable(name=name)
    if 'delete_on_termination' in asked:
        values = {'delete_on_termination': schema_parts.is_true(asked['delete_on_termination'])}
        acting.in_its_cell(
            req,
            server,
            lambda: server.cell.db.write(_write, server.uuid, device.uuid, values),
        )


def _write(connection: sa.Connection, uuid: str, device_uuid: str, values: rows.Values) -> None:
    instances.lock(connection, uuid)
    device_rows.change(connection, device_uuid, values)


def _swap(
    req: request.Request, server: server_access.Server, old_volume_id: str, new_volume_id: str
) -> None:
    volumes = req.app.volume
    server_access.require_state(server, transitions.SWAP_VOLUME)
    old = volumes.get(req.ctxt, old_volume_id)
    if not old.get('migration_status'):
        raise NotMigrating(volume_id=old['id'])
    try:
        new = volumes.get(req.ctxt, new_volume_id)
    except exception.VolumeNotFound as error:
        raise exception.VolumeNotUsable(volume_id=new_volume_id, reason='not found') from error
    volume_attachments.find(server, old['id'])
    source_host.require_up(req, server)
    if old['multiattach'] and len(old['attachments']) > 1:
        raise exception.VolumeNotUsable(
            volume_id=old['id'], reason='a volume that several servers use cannot be swapped'
        )
    if new['size'] < old['size']:
        raise exception.VolumeNotUsable(
            volume_id=new['id'], reason='it must be at least as large as the one it replaces'
        )
    if volume_attachments.found(server, new['id']) is not None:
        raise exception.VolumeNotUsable(
            volume_id=new['id'], reason='it is already attached to this server'
        )
    volume_owners.require_none(req, new)
    volumes.check_attachable(
        new, instance_uuid=server.uuid, availability_zone=server.row.availability_zone
    )
    uuid = devices.begin(
        req,
        server,
        kind='swap-volume',
        guard=transitions.SWAP_VOLUME,
        arguments={'old_volume_id': old['id'], 'volume_id': new['id']},
    )
    devices.wait(req, uuid)
