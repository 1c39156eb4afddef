"""The actions addFixedIp and removeFixedIp of servers, up to 2.43.

Source: reference/nova/api-surface 2.4.
"""

from nova_lite import exception
from nova_lite import states
from nova_lite import transitions
from nova_lite.api import network_info
from nova_lite.api import operation
from nova_lite.api import types
from nova_lite.clients import items
from nova_lite.policies import addresses as rules

PATH = '/servers/{server_id}/action'
UNTIL = '2.43'
FAULTS = (400, 403, 404, 409)
_STATES = (
    states.VmState.ACTIVE,
    states.VmState.PAUSED,
    states.VmState.SUSPENDED,
    states.VmState.STOPPED,
)
ADD = transitions.Transition('add_fixed_ip', _STATES, None)
REMOVE = transitions.Transition('remove_fixed_ip', _STATES, None)
_NETWORK = {'type': ['string', 'number'], 'minLength': 1, 'maxLength': 255}


class NetworkNotOnServer(exception.NotFound):
    msg = 'Network %(network_id)s could not be found for instance %(instance_id)s.'


class FixedIpNotOnServer(exception.Invalid):
    msg = "address: instance %(instance_id)s does not have fixed IP '%(address)s'."


@operation.operation(
    'POST',
    PATH,
    action='addFixedIp',
    policy=rules.FIXED_ADD,
    guard=ADD,
    body={
        '2.1': types.body(
            'addFixedIp', types.whole({'networkId': _NETWORK}, required=['networkId'])
        )
    },
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def add(req, server):
    """Give a port of the server on a network one more address."""
    network_id = str(req.content['networkId'])
    ports = [
        port
        for port in req.app.network.ports(req.ctxt, server.uuid)
        if port['network_id'] == network_id
    ]
    subnets = req.app.network.list_subnets(req.ctxt, network_id=network_id) if ports else ()
    if not subnets:
        raise NetworkNotOnServer(network_id=network_id, instance_id=server.uuid)
    _set(req, server, ports[0], [*ports[0]['fixed_ips'], {'subnet_id': subnets[0]['id']}])


@operation.operation(
    'POST',
    PATH,
    action='removeFixedIp',
    policy=rules.FIXED_REMOVE,
    guard=REMOVE,
    body={
        '2.1': types.body(
            'removeFixedIp',
            types.whole({'address': {'type': 'string', 'format': 'ip'}}, required=['address']),
        )
    },
    until=UNTIL,
    success=202,
    faults=FAULTS,
)
def remove(req, server):
    """Take an address from the port of the server that has it."""
    address = req.content['address']
    for port in req.app.network.ports(req.ctxt, server.uuid):
        left = [each for each in port['fixed_ips'] if each['ip_address'] != address]
        if len(left) < len(port['fixed_ips']):
            _set(req, server, port, left)
            return
    raise FixedIpNotOnServer(instance_id=server.uuid, address=address)


def _set(req, server, port, fixed_ips):
    ports = items.Items(
        req.app.network.service,
        '/ports',
        missing=(exception.PortNotFound, 'port_id'),
        as_user=True,
    )
    # The network has no address left, or another request changed the port.
    errors = {400: exception.Invalid, 409: exception.Invalid}
    body = {'port': {'fixed_ips': fixed_ips}}
    ports.call(req.ctxt, 'PUT', port['id'], json=body, errors=errors)
    network_info.refresh(req, server.cell, server.row)
