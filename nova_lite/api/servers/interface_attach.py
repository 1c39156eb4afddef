"""POST /servers/{server_id}/os-interface: attach a named port or a new port.

The answer waits until the port is plugged in. Source: reference/nova/api-surface 2.3.
"""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_devices as rules
from nova_lite.api.policies import servers as server_rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.api.servers import interfaces
from nova_lite.api.servers import source_host
from nova_lite.clients import session
from nova_lite.objects import port_devices
from nova_lite.states import transitions

KEY = 'interfaceAttachment'
_V1 = schema_parts.whole(
    {
        'net_id': schema_parts.UUID,
        'port_id': schema_parts.UUID,
        'fixed_ips': {
            'type': 'array',
            'minItems': 1,
            'maxItems': 1,
            'items': schema_parts.whole(
                {'ip_address': {'type': 'string', 'format': 'ip'}}, required=['ip_address']
            ),
        },
    }
)
_V49 = schema.extended(_V1, tag=schema_parts.TAG)


class BadRequest(exception.Invalid):
    """The request contradicts itself, or cannot be fulfilled."""


class NoNetwork(exception.Invalid):
    msg = 'No specific network was requested and none are available for project %(project_id)s.'


@operation.operation(
    'POST',
    interfaces.PATH,
    policy=rules.INTERFACES_ATTACH,
    guard=transitions.ATTACH_INTERFACE,
    body={'2.1': schema_parts.whole({KEY: _V1}), '2.49': schema_parts.whole({KEY: _V49})},
    success=200,
    faults=(400, 403, 404, 409),
)
def attach(req: request.Request, server: server_access.Server) -> operation.Result:
    """Attach the requested port, or a new one on the requested network."""
    request = _validated(req, server, _request(req.body.get(KEY, {})))
    acting.require_host(server)
    source_host.require_up(req, server)
    devices.require_answers(req, server)
    uuid = devices.begin(
        req,
        server,
        kind='attach-interface',
        guard=transitions.ATTACH_INTERFACE,
        arguments={'request': request},
    )
    port_id = devices.wait(req, uuid, meanwhile=devices.progress(req, server))
    server = server_access.load(req, server.uuid)
    return {KEY: interfaces.view(req, server, interfaces.find(req, server, port_id))}


def _request(asked: operation.Body) -> session.Json:
    network_id, port_id = asked.get('net_id'), asked.get('port_id')
    addresses = asked.get('fixed_ips') or [{}]
    fixed_ip = addresses[0].get('ip_address')
    if network_id and port_id:
        raise BadRequest('Must not input both network_id and port_id')
    if fixed_ip and not network_id:
        raise BadRequest('Must input network_id when request IP address')
    return {
        'network_id': network_id,
        'port_id': port_id,
        'fixed_ip': fixed_ip,
        'tag': asked.get('tag'),
    }


def _validated(
    req: request.Request, server: server_access.Server, request: session.Json
) -> session.Json:
    """Return the request, completed with a network if it names none."""
    network, named = req.app.network, request['network_id'] or request['port_id']
    try:
        wanted, _count = network.validate(
            req.ctxt,
            [request] if named else None,
            may_attach_external=req.allows(server_rules.EXTERNAL_NETWORK),
            project_id=server.row.project_id,
        )
    except exception.NetworkAmbiguous as error:
        raise BadRequest(error.message) from error
    except exception.NetworkNotUsable as error:
        raise exception.NetworkNotFound(network_id=request['network_id']) from error
    except exception.FixedIpInUse as error:
        raise exception.Conflict(error.message) from error
    except exception.PortNotUsable as error:
        if isinstance(error.__cause__, exception.PortNotFound):
            raise exception.PortNotFound(port_id=request['port_id']) from error
        raise
    if not isinstance(wanted, list):
        raise NoNetwork(project_id=server.row.project_id)
    if port_devices.accelerator(wanted) is not None:
        raise BadRequest('Feature not supported with Ports that have accelerators.')
    return {**request, **wanted[0]}
