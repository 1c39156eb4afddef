"""The actions addFloatingIp and removeFloatingIp of servers, up to 2.43.

Source: reference/nova/api-surface 2.4.
"""

from nova_lite import exception
from nova_lite.api import network_info
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import addresses as rules
from nova_lite.api.proxies import floating_ips
from nova_lite.api.servers import acting
from nova_lite.clients import session

UNTIL = '2.43'
FAULTS = (400, 403, 404, 409)
ADDRESS = {'type': 'string', 'format': 'ip'}


class NoFixedIp(exception.Invalid):
    msg = 'Instance %(instance_id)s has no fixed IPv4 address to associate.'


class FixedIpNotOnServer(exception.Invalid):
    msg = "fixed_address: instance %(instance_id)s does not have fixed IP '%(address)s'."


class FloatingIpNotOnServer(exception.Conflict):
    msg = 'Floating IP %(address)s is not associated with instance %(instance_id)s.'


@operation.server_action(
    'addFloatingIp',
    policy=rules.FLOATING_ADD,
    body={
        '2.1': schema_parts.whole(
            {'address': ADDRESS, 'fixed_address': ADDRESS}, required=['address']
        )
    },
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def add(req: request.Request, server: server_access.Server) -> None:
    """Associate a floating address with a server, and end a former association."""
    acting.require_cell(server)
    floating = _find(req, req.content['address'])
    port_id, fixed = _fixed(req, server, req.content.get('fixed_address'))
    _associate(req, server, floating, {'port_id': port_id, 'fixed_ip_address': fixed})


@operation.server_action(
    'removeFloatingIp',
    policy=rules.FLOATING_REMOVE,
    body={'2.1': schema_parts.whole({'address': ADDRESS}, required=['address'])},
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def remove(req: request.Request, server: server_access.Server) -> None:
    """Disassociate a floating address from a server."""
    acting.require_cell(server)
    address = req.content['address']
    floating = _find(req, address)
    own = {port['id'] for port in req.app.network.ports(req.ctxt, server.uuid)}
    if floating['port_id'] not in own:
        raise FloatingIpNotOnServer(address=address, instance_id=server.uuid)
    _associate(req, server, floating, {'port_id': None})


def _find(req: request.Request, address: str) -> session.Json:
    """Return a floating address that the caller can see. Raise FloatingIpNotFound."""
    found = req.app.network.list(req.ctxt, 'floatingips', as_user=True, floating_ip_address=address)
    if not found:
        raise floating_ips.FloatingIpNotFound('floating IP not found')
    return found[0]


def _fixed(
    req: request.Request, server: server_access.Server, wanted: str | None
) -> tuple[str, str]:
    """Return (port id, IPv4 address) of a server: the wanted address, or the first."""
    owned = [
        (port['id'], each['ip_address'])
        for port in req.app.network.ports(req.ctxt, server.uuid)
        for each in port['fixed_ips']
        if ':' not in each['ip_address']
    ]
    if not owned:
        raise NoFixedIp(instance_id=server.uuid)
    for port_id, address in owned:
        if wanted in (None, address):
            return port_id, address
    raise FixedIpNotOnServer(instance_id=server.uuid, address=wanted)


def _associate(
    req: request.Request, server: server_access.Server, floating: session.Json, values: session.Json
) -> None:
    # Not reachable through a router, or taken by another address.
    errors = {400: exception.Invalid, 404: exception.Invalid, 409: exception.Invalid}
    floating_ips.service(req).call(
        req.ctxt, 'PUT', floating['id'], json={'floatingip': values}, errors=errors
    )
    network_info.refresh_server(req, server)
