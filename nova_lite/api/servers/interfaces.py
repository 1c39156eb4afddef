"""GET /servers/{server_id}/os-interface: the ports of a server in the network service.

Source: reference/nova/api-surface 2.3 and 4.
"""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.clients import session

PATH = '/servers/{server_id}/os-interface'
ONE = PATH + '/{port_id}'
TAGS_SHOWN = 70


@operation.operation('GET', PATH, policy=rules.INTERFACES_LIST, faults=(400, 403, 404))
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the interfaces of the server."""
    ports = req.app.network.ports(req.ctxt, server.uuid)
    return {'interfaceAttachments': [view(req, server, port) for port in ports]}


@operation.operation('GET', ONE, policy=rules.INTERFACES_SHOW, faults=(400, 403, 404))
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show one interface of the server."""
    return {'interfaceAttachment': view(req, server, find(req, server, req.args['port_id']))}


def find(req: request.Request, server: server_access.Server, port_id: str) -> session.Json:
    """Return a port of the server. Raise PortNotFound, PortNotAttached."""
    port = req.app.network.get_port(req.ctxt, port_id)
    if port['device_id'] != server.uuid:
        raise exception.PortNotAttached(instance_id=server.uuid, port_id=port_id)
    return port


def view(req: request.Request, server: server_access.Server, port: session.Json) -> session.Json:
    """Return a port in the format of the microversion."""
    shown = {
        'net_id': port['network_id'],
        'port_id': port['id'],
        'mac_addr': port['mac_address'],
        'port_state': port['status'],
        'fixed_ips': [
            {'subnet_id': each['subnet_id'], 'ip_address': each['ip_address']}
            for each in port['fixed_ips']
        ],
    }
    if req.minor >= TAGS_SHOWN:
        known = {vif['id']: vif for vif in server.row.network_info or ()}
        shown['tag'] = known.get(port['id'], {}).get('tag')
    return shown
