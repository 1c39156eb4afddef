"""Networks and addresses of old microversions, which the network service has."""

from nova_lite.api.policies import base

_FLOATING = 'os_compute_api:os-floating-ips:'
_ACTION = 'POST /servers/{server_id}/action'
_ALL = '/os-floating-ips'
_ONE = f'{_ALL}/{{floating_ip_id}}'

FLOATING_LIST = base.rule(
    _FLOATING + 'list', base.READER, 'List floating IP addresses.', f'GET {_ALL}'
)
FLOATING_SHOW = base.rule(
    _FLOATING + 'show', base.READER, 'Show a floating IP address.', f'GET {_ONE}'
)
FLOATING_CREATE = base.rule(
    _FLOATING + 'create', base.MEMBER, 'Allocate a floating IP address.', f'POST {_ALL}'
)
FLOATING_DELETE = base.rule(
    _FLOATING + 'delete', base.MEMBER, 'Release a floating IP address.', f'DELETE {_ONE}'
)
FLOATING_ADD = base.rule(
    _FLOATING + 'add',
    base.MEMBER,
    'Associate a floating IP address with a server.',
    f'{_ACTION} (addFloatingIp)',
)
FLOATING_REMOVE = base.rule(
    _FLOATING + 'remove',
    base.MEMBER,
    'Disassociate a floating IP address from a server.',
    f'{_ACTION} (removeFloatingIp)',
)
FLOATING_POOLS = base.rule(
    'os_compute_api:os-floating-ip-pools',
    base.ANYONE,
    'List the pools of floating IP addresses.',
    'GET /os-floating-ip-pools',
)
FIXED_ADD = base.rule(
    'os_compute_api:os-multinic:add',
    base.MEMBER,
    'Add a fixed IP address to a server.',
    f'{_ACTION} (addFixedIp)',
)
FIXED_REMOVE = base.rule(
    'os_compute_api:os-multinic:remove',
    base.MEMBER,
    'Remove a fixed IP address from a server.',
    f'{_ACTION} (removeFixedIp)',
)
NETWORKS_LIST = base.rule(
    'os_compute_api:os-networks:list', base.READER, 'List networks.', 'GET /os-networks'
)
NETWORKS_SHOW = base.rule(
    'os_compute_api:os-networks:show',
    base.READER,
    'Show one of the networks.',
    'GET /os-networks/{network_id}',
)
TENANT_NETWORKS_LIST = base.rule(
    'os_compute_api:os-tenant-networks:list',
    base.READER,
    'List networks of the project.',
    'GET /os-tenant-networks',
)
TENANT_NETWORKS_SHOW = base.rule(
    'os_compute_api:os-tenant-networks:show',
    base.READER,
    'Show one of the networks of the project.',
    'GET /os-tenant-networks/{network_id}',
)
