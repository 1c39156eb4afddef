"""The actions addFixedIp and removeFixedIp of servers, up to 2.43.

Source: reference/nova/api-surface 2.4.
"""

from collections.abc import Callable

from nova_lite import exception
from nova_lite.api import network_info
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import addresses as rules
from nova_lite.api.servers import acting
from nova_lite.clients import port_changes
from nova_lite.clients import session

UNTIL = '2.43'
FAULTS = (400, 403, 404, 409)
_NETWORK = {'type': ['string', 'number'], 'minLength': 1, 'maxLength': 36}


class NetworkNotOnServer(exception.NotFound):
    msg = 'Network %(network_id)s could not be found for instance %(instance_id)s.'


class FixedIpNotOnServer(exception.Invalid):
    msg = "address: instance %(instance_id)s does not have fixed IP '%(address)s'."


@operation.server_action(
    'addFixedIp',
    policy=rules.FIXED_ADD,
    lock=True,
    body={'2.1': schema_parts.whole({'networkId': _NETWORK}, required=['networkId'])},
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def add(req: request.Request, server: server_access.Server) -> None:
    """Give a port of the server on a network one more address."""
    acting.require_host(server)
    network_id = str(req.content['networkId'])
    ports = [
        port
        for port in req.app.network.ports(req.ctxt, server.uuid)
        if port['network_id'] == network_id
    ]
    subnets = req.app.network.list_subnets(req.ctxt, network_id=network_id) if ports else ()
    if not subnets:
        raise NetworkNotOnServer(network_id=network_id, instance_id=server.uuid)
    wanted = {'subnet_id': subnets[0]['id']}
    _change(req, server, ports[0], lambda fixed_ips: [*fixed_ips, wanted])


@operation.server_action(
    'removeFixedIp',
    policy=rules.FIXED_REMOVE,
    lock=True,
    body={
        '2.1': schema_parts.whole(
            {'address': {'type': 'string', 'format': 'ip'}}, required=['address']
        )
    },
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def remove(req: request.Request, server: server_access.Server) -> None:
    """Take an address from the port of the server that has it."""
    acting.require_host(server)
    address = req.content['address']

    def without(fixed_ips: session.Jsons) -> session.Jsons:
        return [each for each in fixed_ips if each['ip_address'] != address]

    for port in req.app.network.ports(req.ctxt, server.uuid):
        if len(without(port['fixed_ips'])) < len(port['fixed_ips']):
            _change(req, server, port, without)
            return
    raise FixedIpNotOnServer(instance_id=server.uuid, address=address)


def _change(
    req: request.Request,
    server: server_access.Server,
    port: session.Json,
    change: Callable[[session.Jsons], session.Jsons],
) -> None:
    """Change the addresses of a port; change: function of those that it has."""
    port_changes.change(
        req.app.network.service,
        req.ctxt,
        port,
        lambda found: {'fixed_ips': change(found['fixed_ips'])},
        as_user=True,
        # The network has no address left.
        errors={400: exception.Invalid, 409: exception.Invalid},
    )
    network_info.refresh_server(req, server)
