"""The actions rescue and unrescue: boot a server from another image, or its own disk again.

The own disk is then the second disk. The image is recorded, for a host that restarts in the
meantime. Source: reference/nova/api-surface 2.4.
"""

import os_traits

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_content
from nova_lite.api.servers import left_guest
from nova_lite.db.cell import compute_nodes
from nova_lite.lifecycle.guests import images
from nova_lite.states import transitions

BODY = schema_parts.null_or(
    schema_parts.whole({'adminPass': {'type': 'string'}, 'rescue_image_ref': schema_parts.UUID})
)
# The microversion from which servers that boot from a volume can be rescued.
VOLUME_BACKED = 87
# Key of a server's system metadata.
IMAGE = 'rescue_image_ref'


class VolumeBacked(exception.Invalid):
    msg = 'Instance %(instance_id)s cannot be rescued: %(reason)s'


class NoRescueImage(exception.Invalid):
    msg = 'Image %(image_id)s cannot be used to rescue: %(reason)s'


@operation.server_action(
    'rescue',
    policy=server_actions.RESCUE,
    guard=transitions.RESCUE,
    precheck=lambda req, server: acting.require_no_tpm(server, 'rescue'),
    body={'2.1': BODY},
    success=200,
    faults=(400, 403, 404, 409),
)
def rescue(req: request.Request, server: server_access.Server) -> operation.Result:
    """Boot the server from a named image or from its own image. Answer with a password."""
    asked = req.content or {}
    acting.require_host(server)
    image_id = asked.get('rescue_image_ref')
    if image_id is not None:
        _require_image(req, image_id)
    if acting.boots_from_volume(acting.devices(server)):
        _require_volume_rescue(req, server)
    left_guest.remove(req, server)
    metadata = {IMAGE: image_id}
    instance = acting.begin(req, server, 'rescue', transitions.RESCUE, system_metadata=metadata)
    acting.send(req, server, 'rescue_instance', instance=instance, rescue_image_ref=image_id)
    if not req.conf.api.enable_instance_password:
        return None
    return {'adminPass': create_content.password(req.conf, asked.get('adminPass'))}


def _require_image(req: request.Request, image_id: str) -> None:
    """Raise Invalid for an image that cannot be booted."""
    try:
        image = req.app.image.get(req.ctxt, image_id)
    except exception.ImageNotFound as error:
        raise NoRescueImage(image_id=image_id, reason='it does not exist') from error
    if image['status'] != 'active':
        raise NoRescueImage(image_id=image_id, reason=f'it is {image["status"]}')
    if image['properties'].get('block_device_mapping'):
        raise NoRescueImage(
            image_id=image_id, reason='it has a block_device_mapping instead of data'
        )
    images.check(image['properties'])


def _require_volume_rescue(req: request.Request, server: server_access.Server) -> None:
    """Raise VolumeBacked if the microversion or the host cannot rescue a server on a volume."""
    if req.minor < VOLUME_BACKED:
        raise VolumeBacked(
            instance_id=server.uuid,
            reason='it boots from a volume, which needs microversion 2.87.',
        )
    row = server.row
    nodes = server.cell.db.read(compute_nodes.every, host=row.host, hypervisor_hostname=row.node)
    for node in nodes:
        traits, _generation = req.app.placement.providers.traits(req.ctxt, node.uuid)
        if os_traits.COMPUTE_RESCUE_BFV in traits:
            return
    raise VolumeBacked(
        instance_id=server.uuid,
        reason='its host cannot rescue a server that boots from a volume.',
    )


@operation.server_action(
    'unrescue',
    policy=server_actions.UNRESCUE,
    guard=transitions.UNRESCUE,
    success=202,
    faults=(400, 403, 404, 409),
)
def unrescue(req: request.Request, server: server_access.Server) -> None:
    """Boot from the server's own disk again."""
    instance = acting.begin(req, server, 'unrescue', transitions.UNRESCUE)
    acting.send(req, server, 'unrescue_instance', instance=instance)
