"""DELETE /servers/{server_id}/os-volume_attachments/{volume_id}: detach a volume."""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.api.servers import left_guest
from nova_lite.api.servers import source_host
from nova_lite.api.servers import volume_attachments
from nova_lite.states import transitions


class RootDevice(exception.Invalid):
    msg = 'Cannot detach a root device volume'


@operation.operation(
    'DELETE',
    volume_attachments.ONE,
    policy=rules.VOLUMES_DETACH,
    lock=True,
    success=202,
    faults=(400, 403, 404, 409),
)
def detach(req: request.Request, server: server_access.Server) -> None:
    """Detach a volume. The answer waits until the volume service has agreed."""
    devices.require_shelvable(req, server, transitions.DETACH_VOLUME)
    volume = req.app.volume.get(req.ctxt, req.args['volume_id'])
    acting.require_cell(server)
    device = volume_attachments.find(server, volume['id'])
    if device.boot_index == 0:
        raise RootDevice()
    server_access.require_state(server, transitions.DETACH_VOLUME)
    if server.row.host:
        source_host.require_up(req, server)
        if volume['status'] != 'in-use':
            raise exception.VolumeNotUsable(
                volume_id=volume['id'],
                reason=f"its status must be 'in-use' but is '{volume['status']}'",
            )
    else:
        left_guest.remove(req, server)
    uuid = devices.begin(
        req,
        server,
        kind='detach-volume',
        guard=transitions.DETACH_VOLUME,
        arguments={'volume_id': volume['id']},
    )
    devices.wait(req, uuid)
