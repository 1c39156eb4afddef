"""GET /servers/{server_id}/os-volume_attachments: the volumes of a server.

Source: reference/nova/api-surface 2.3 and 4.
"""

from collections.abc import Sequence

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import devices

PATH = '/servers/{server_id}/os-volume_attachments'
ONE = PATH + '/{volume_id}'
TAGS_SHOWN, TERMINATION_SHOWN, IDS_SHOWN = 70, 79, 89
PARAMS = {
    'limit': schema_parts.multi(schema_parts.NUMBER),
    'offset': schema_parts.multi(schema_parts.NUMBER),
}
QUERY = {'2.1': schema_parts.query(PARAMS), '2.75': schema_parts.query(PARAMS, strict=True)}


@operation.operation('GET', PATH, policy=rules.VOLUMES_LIST, query=QUERY, faults=(400, 403, 404))
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the attached volumes, or a page of them by limit and offset."""
    devices_ = [device for device in _all(server) if device.volume_id]
    first = paging.offset_of(req)
    largest: int = req.conf.api.max_limit
    most = min(int(req.param('limit') or largest), largest)
    page = devices_[first : first + most]
    return {'volumeAttachments': [view(req, server, device) for device in page]}


@operation.operation(
    'GET', ONE, policy=rules.VOLUMES_SHOW, query=operation.ANY_QUERY, faults=(400, 403, 404)
)
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show one attached volume, by its id."""
    device = find(server, req.args['volume_id'])
    return {'volumeAttachment': view(req, server, device)}


def find(server: server_access.Server, volume_id: str) -> rows.Row:
    """Return the block device of a volume. Raise VolumeNotAttached."""
    device = found(server, volume_id)
    if device is None:
        raise exception.VolumeNotAttached(instance_id=server.uuid, volume_id=volume_id)
    return device


def found(server: server_access.Server, volume_id: str) -> rows.Row | None:
    """Return the block device of a volume, or None."""
    if not server.is_in_cell:
        return None
    return server.cell.db.read(devices.find, server.uuid, volume_id)


def view(req: request.Request, server: server_access.Server, device: rows.Row) -> session.Json:
    """Return an attachment in the format of the microversion."""
    shown = {'volumeId': device.volume_id, 'serverId': server.uuid}
    if req.minor < IDS_SHOWN:
        shown['id'] = device.volume_id
    if device.device_name:
        shown['device'] = device.device_name
    if req.minor >= TAGS_SHOWN:
        shown['tag'] = device.tag
    if req.minor >= TERMINATION_SHOWN:
        shown['delete_on_termination'] = device.delete_on_termination
    if req.minor >= IDS_SHOWN:
        shown['attachment_id'] = device.attachment_id
        shown['bdm_uuid'] = device.uuid
    return shown


def _all(server: server_access.Server) -> Sequence[rows.Row]:
    if not server.is_in_cell:
        return []
    return server.cell.db.read(children.block_devices, [server.uuid]).get(server.uuid, [])
