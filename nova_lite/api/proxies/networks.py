"""/os-networks and /os-tenant-networks up to 2.35: networks that the caller can see.

Of most of what nova's own networks had, the network service knows nothing: it is null.
Source: reference/nova/api-surface 2.6.
"""

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api.policies import addresses as rules
from nova_lite.clients import items
from nova_lite.clients import session

NETWORKS, TENANT_NETWORKS = '/os-networks', '/os-tenant-networks'
UNTIL = '2.35'
FAULTS = (403, 404)
_EVERYONE = (
    'cidr', 'netmask', 'gateway', 'broadcast', 'dns1', 'dns2', 'cidr_v6', 'gateway_v6',
    'netmask_v6',
)  # fmt: skip
_ADMIN = (
    'created_at', 'updated_at', 'deleted_at', 'deleted', 'injected', 'bridge', 'vlan',
    'vpn_public_address', 'vpn_public_port', 'vpn_private_address', 'dhcp_start', 'project_id',
    'host', 'bridge_interface', 'multi_host', 'priority', 'rxtx_base', 'mtu', 'dhcp_server',
    'enable_dhcp', 'share_address',
)  # fmt: skip


@operation.operation('GET', NETWORKS, policy=rules.NETWORKS_LIST, until=UNTIL, faults=(403,))
def index(req: request.Request) -> operation.Result:
    """List the networks that the caller can see, including external networks."""
    return {'networks': [_view(req, each) for each in _visible(req)]}


@operation.operation(
    'GET', NETWORKS + '/{id}', policy=rules.NETWORKS_SHOW, until=UNTIL, faults=FAULTS
)
def show(req: request.Request) -> operation.Result:
    """Show one network."""
    return {'network': _view(req, _get(req))}


@operation.operation(
    'GET', TENANT_NETWORKS, policy=rules.TENANT_NETWORKS_LIST, until=UNTIL, faults=(403,)
)
def index_of_tenant(req: request.Request) -> operation.Result:
    """List the networks of /os-networks with fewer fields."""
    return {'networks': [_brief(each) for each in _visible(req)]}


@operation.operation(
    'GET',
    TENANT_NETWORKS + '/{id}',
    policy=rules.TENANT_NETWORKS_SHOW,
    until=UNTIL,
    faults=FAULTS,
)
def show_of_tenant(req: request.Request) -> operation.Result:
    """Show one network with fewer fields."""
    return {'network': _brief(_get(req))}


def _visible(req: request.Request) -> session.Jsons:
    return req.app.network.list(req.ctxt, 'networks', as_user=True, fields=['id', 'name'])


def _get(req: request.Request) -> session.Json:
    networks = items.Items(
        req.app.network.service,
        '/networks',
        missing=(exception.NetworkNotFound, 'network_id'),
        as_user=True,
    )
    found: session.Json = networks.call(req.ctxt, 'GET', req.args['id']).json()['network']
    return found


def _view(req: request.Request, network: session.Json) -> operation.Body:
    unknown = (*_EVERYONE, *_ADMIN) if req.ctxt.is_admin else _EVERYONE
    return {'id': network['id'], 'label': network['name'], **dict.fromkeys(unknown)}


def _brief(network: session.Json) -> operation.Body:
    # Clients know the text that nova makes of nothing.
    return {'id': network['id'], 'label': network['name'], 'cidr': 'None'}
