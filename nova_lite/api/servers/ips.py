"""/servers/{server_id}/ips: the addresses by network."""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.api.servers import addresses

PATH = '/servers/{server_id}/ips'


@operation.operation('GET', PATH, policy=rules.IPS_LIST, faults=(403, 404))
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List all addresses of a server."""
    return {'addresses': addresses.view(server.row.network_info, extended=False)}


@operation.operation('GET', PATH + '/{network_label}', policy=rules.IPS_SHOW, faults=(403, 404))
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the addresses of a server on one network."""
    label = req.args['network_label']
    found = addresses.view(server.row.network_info, extended=False)
    if label not in found:
        raise exception.NotFound('Instance is not a member of specified network')
    return {label: found[label]}
