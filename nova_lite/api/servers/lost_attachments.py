"""Attachments that exist only in the record of a server, or only in the volume service.

An administrator may have deleted an attachment in Cinder, or reset the status of a volume
(Launchpad bug 2019078). As in nova, a reboot compares both services.
"""

import functools

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import moves
from nova_lite.api.servers import outcomes
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import children
from nova_lite.lifecycle import intents
from nova_lite.moves import kinds
from nova_lite.states import transitions

LOG = log.getLogger(__name__)
KIND = 'detach-volume'


def settle(req: request.Request, server: server_access.Server) -> None:
    """Detach volumes whose attachments are gone, and delete attachments that no device names.

    A failure does not stop the request: the next reboot compares again.
    """
    try:
        listed = req.app.volume.list_attachments(req.ctxt, server.uuid)
        _settle(req, server, {each['id']: each['volume_id'] for each in listed})
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot settle the volume attachments of server %s: %s. Rebooting it without that.',
            server.uuid,
            error,
        )


def _settle(req: request.Request, server: server_access.Server, listed: dict[str, str]) -> None:
    """Repair a server without a saga.

    listed: {id of an attachment in the volume service: id of its volume}

    A saga records the attachments that it creates before it ends. So an attachment that was listed
    before the server was seen without a saga is recorded now, or belongs to another client. Only a
    hard reboot attaches a root disk again without a saga (`compute.volumes.attach_root`).
    """
    if req.app.api_db.read(sagas.every, active=True, cleaning=True, instance_uuid=server.uuid):
        return
    devices = server.cell.db.read(children.block_devices, [server.uuid]).get(server.uuid, ())
    attached = [device for device in devices if device.attachment_id]
    lost = [device for device in attached if device.attachment_id not in listed]
    roots = {device.volume_id for device in lost if device.boot_index == 0}
    for attachment_id in sorted(listed.keys() - {device.attachment_id for device in attached}):
        if listed[attachment_id] not in roots:
            LOG.info('Deleting attachment %s, unknown to server %s', attachment_id, server.uuid)
            req.app.volume.delete_attachment(req.ctxt, attachment_id)
    for device in lost:
        if device.boot_index != 0:
            _detach_lost(req, server, device)


def _detach_lost(req: request.Request, server: server_access.Server, device: rows.Row) -> None:
    """Detach a volume, unless its attachment was created after the list of attachments was read."""
    try:
        req.app.volume.get_attachment(req.ctxt, device.attachment_id)
        return
    except exception.AttachmentNotFound:
        LOG.info('Volume %s of server %s has lost its attachment', device.volume_id, server.uuid)
    req.app.waiters.enter(req)
    guard = transitions.DETACH_LOST_VOLUME
    intent = intents.Intent(
        kind=KIND,
        uuid=runtime.new_uuid(),
        instance_uuid=server.uuid,
        arguments=kinds.arguments(KIND, {'volume_id': device.volume_id, 'lost': True}),
        order=intents.order(guard, guard.verb, host=server.row.host),
        pause=functools.partial(req.app.waiters.pause, req),
    )
    # The service user deletes it: the user has not requested the deletion.
    intents.begin(req.app.api_db, server.cell, context.admin(), intent)
    moves.run_saga(req, intent.uuid)
    timeout_s = req.conf.api.device_timeout
    outcomes.wait(
        req, intent.uuid, lambda row: False, timeout_s=timeout_s, meaning=lambda error: None
    )
