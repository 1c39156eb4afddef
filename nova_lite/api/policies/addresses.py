"""Networks and addresses of old microversions, which the network service has."""

from nova_lite.api.policies import base

_FLOATING = 'os_compute_api:os-floating-ips:'
FLOATING_LIST = _FLOATING + 'list'
FLOATING_SHOW = _FLOATING + 'show'
FLOATING_CREATE = _FLOATING + 'create'
FLOATING_DELETE = _FLOATING + 'delete'
FLOATING_ADD = _FLOATING + 'add'
FLOATING_REMOVE = _FLOATING + 'remove'
FLOATING_POOLS = 'os_compute_api:os-floating-ip-pools'
FIXED_ADD = 'os_compute_api:os-multinic:add'
FIXED_REMOVE = 'os_compute_api:os-multinic:remove'
NETWORKS_LIST = 'os_compute_api:os-networks:list'
NETWORKS_SHOW = 'os_compute_api:os-networks:show'
TENANT_NETWORKS_LIST = 'os_compute_api:os-tenant-networks:list'
TENANT_NETWORKS_SHOW = 'os_compute_api:os-tenant-networks:show'

_ACTION = 'POST /servers/{server_id}/action'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [*_floating(), *_fixed(), *_networks()]


def _floating() -> base.Rules:
    path = '/os-floating-ips'
    one = f'{path}/{{floating_ip_id}}'
    return [
        base.rule(FLOATING_LIST, base.READER, 'List floating IP addresses.', f'GET {path}'),
        base.rule(FLOATING_SHOW, base.READER, 'Show a floating IP address.', f'GET {one}'),
        base.rule(FLOATING_CREATE, base.MEMBER, 'Allocate a floating IP address.', f'POST {path}'),
        base.rule(FLOATING_DELETE, base.MEMBER, 'Release a floating IP address.', f'DELETE {one}'),
        base.rule(
            FLOATING_ADD,
            base.MEMBER,
            'Associate a floating IP address with a server.',
            f'{_ACTION} (addFloatingIp)',
        ),
        base.rule(
            FLOATING_REMOVE,
            base.MEMBER,
            'Disassociate a floating IP address from a server.',
            f'{_ACTION} (removeFloatingIp)',
        ),
        base.rule(
            FLOATING_POOLS,
            base.ANYONE,
            'List the pools of floating IP addresses.',
            'GET /os-floating-ip-pools',
        ),
    ]


def _fixed() -> base.Rules:
    return [
        base.rule(
            FIXED_ADD, base.MEMBER, 'Add a fixed IP address to a server.', f'{_ACTION} (addFixedIp)'
        ),
        base.rule(
            FIXED_REMOVE,
            base.MEMBER,
            'Remove a fixed IP address from a server.',
            f'{_ACTION} (removeFixedIp)',
        ),
    ]


def _networks() -> base.Rules:
    paths = {'/os-networks': 'networks', '/os-tenant-networks': 'networks of the project'}
    names = {
        '/os-networks': (NETWORKS_LIST, NETWORKS_SHOW),
        '/os-tenant-networks': (TENANT_NETWORKS_LIST, TENANT_NETWORKS_SHOW),
    }
    return [
        rule
        for path, noun in paths.items()
        for rule in (
            base.rule(names[path][0], base.READER, f'List {noun}.', f'GET {path}'),
            base.rule(
                names[path][1],
                base.READER,
                f'Show one of the {noun}.',
                f'GET {path}/{{network_id}}',
            ),
        )
    ]
