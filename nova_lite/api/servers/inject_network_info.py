"""The action injectNetworkInfo: refresh a server's ports from the network service.

A hypervisor cannot inject the ports into the guest. Source: reference/nova/api-surface 2.4.
"""

from nova_lite.api import network_info
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting
from nova_lite.states import transitions


@operation.server_action(
    'injectNetworkInfo',
    policy=rules.INJECT_NETWORK_INFO,
    guard=transitions.INJECT_NETWORK_INFO,
    success=202,
    faults=(403, 404, 409),
)
def inject(req: request.Request, server: server_access.Server) -> None:
    """Refresh the network information in the record of the server."""
    acting.require_host(server)
    network_info.refresh_server(req, server)
