"""DELETE /servers/{server_id}/os-interface/{port_id}: detach a port."""

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.api.servers import interfaces
from nova_lite.api.servers import source_host
from nova_lite.states import transitions


@operation.operation(
    'DELETE',
    interfaces.ONE,
    policy=rules.INTERFACES_DETACH,
    guard=transitions.DETACH_INTERFACE,
    success=202,
    faults=(400, 403, 404, 409),
)
def detach(req: request.Request, server: server_access.Server) -> None:
    """Detach a port. A port that was created for the server is deleted; others become free.

    A request for a port of another server is accepted, and the action has the error.
    """
    acting.require_host(server)
    source_host.require_up(req, server)
    devices.begin(
        req,
        server,
        kind='detach-interface',
        guard=transitions.DETACH_INTERFACE,
        arguments={'port_id': req.args['port_id']},
    )
