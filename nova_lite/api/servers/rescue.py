"""The actions rescue and unrescue: boot a server from another image, and back.

Its own disk is then the second one. Source: reference/api-surface 2.4.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import types
from nova_lite.api.servers import acting
from nova_lite.policies import server_actions

PATH = '/servers/{server_id}/action'
BODY = types.body(
    'rescue',
    types.null_or(types.whole({'adminPass': {'type': 'string'}, 'rescue_image_ref': types.UUID})),
)
# From here on servers that boot from a volume can be rescued.
VOLUME_BACKED = 87


class VolumeBacked(exception.Invalid):
    msg = 'Instance %(instance_id)s cannot be rescued: it boots from a volume.'


class NoRescueImage(exception.Invalid):
    msg = 'Image %(image_id)s cannot be used to rescue: %(reason)s'


@operation.operation(
    'POST',
    PATH,
    action='rescue',
    policy=server_actions.RESCUE,
    guard=states.RESCUE,
    body={'2.1': BODY},
    success=200,
    faults=(400, 403, 404, 409),
)
def rescue(req, server):
    """Boot from the named image, or the one the server was made from; answers a password."""
    asked = req.content or {}
    acting.require_host(server)
    image_id = asked.get('rescue_image_ref')
    if image_id is not None:
        _require_image(req, image_id)
    if req.minor < VOLUME_BACKED and acting.boots_from_volume(acting.devices(server)):
        raise VolumeBacked(instance_id=server.uuid)
    instance = acting.begin(req, server, 'rescue', states.RESCUE)
    acting.send(req, server, 'rescue_instance', instance=instance, rescue_image_ref=image_id)
    if not req.conf.api.enable_instance_password:
        return None
    return {'adminPass': asked.get('adminPass') or runtime.new_secret(9)}


def _require_image(req, image_id):
    """Raise NoRescueImage for an image from which nothing can boot."""
    try:
        image = req.app.image.get(req.ctxt, image_id)
    except exception.ImageNotFound as error:
        raise NoRescueImage(image_id=image_id, reason='it does not exist') from error
    if image['status'] != 'active':
        raise NoRescueImage(image_id=image_id, reason=f'it is {image["status"]}')


@operation.operation(
    'POST',
    PATH,
    action='unrescue',
    policy=server_actions.UNRESCUE,
    guard=states.UNRESCUE,
    body={'2.1': types.body('unrescue', types.ANY)},
    success=202,
    faults=(400, 403, 404, 409),
)
def unrescue(req, server):
    """Boot from the server's own disk again."""
    instance = acting.begin(req, server, 'unrescue', states.UNRESCUE)
    acting.send(req, server, 'unrescue_instance', instance=instance)
