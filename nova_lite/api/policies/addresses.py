"""Networks and addresses of old microversions, which the network service has."""

from nova_lite.api.policies import base

_FLOATING = 'os_compute_api:os-floating-ips:'
_ALL = '/os-floating-ips'
_ONE = f'{_ALL}/{{floating_ip_id}}'

FLOATING_LIST = base.rule(_FLOATING + 'list', base.READER, 'List floating IP addresses.')
FLOATING_SHOW = base.rule(
    _FLOATING + 'show', base.READER, 'Show a floating IP address.', f'GET {_ONE}'
)
FLOATING_CREATE = base.rule(_FLOATING + 'create', base.MEMBER, 'Allocate a floating IP address.')
FLOATING_DELETE = base.rule(
    _FLOATING + 'delete', base.MEMBER, 'Release a floating IP address.', f'DELETE {_ONE}'
)
FLOATING_ADD = base.rule(
    _FLOATING + 'add', base.MEMBER, 'Associate a floating IP address with a server.'
)
FLOATING_REMOVE = base.rule(
    _FLOATING + 'remove', base.MEMBER, 'Disassociate a floating IP address from a server.'
)
FLOATING_POOLS = base.rule(
    'os_compute_api:os-floating-ip-pools', base.ANYONE, 'List the pools of floating IP addresses.'
)
FIXED_ADD = base.rule(
    'os_compute_api:os-multinic:add', base.MEMBER, 'Add a fixed IP address to a server.'
)
FIXED_REMOVE = base.rule(
    'os_compute_api:os-multinic:remove', base.MEMBER, 'Remove a fixed IP address from a server.'
)
NETWORKS_LIST = base.rule('os_compute_api:os-networks:list', base.READER, 'List networks.')
NETWORKS_SHOW = base.rule(
    'os_compute_api:os-networks:show',
    base.READER,
    'Show one of the networks.',
    'GET /os-networks/{network_id}',
)
TENANT_NETWORKS_LIST = base.rule(
    'os_compute_api:os-tenant-networks:list', base.READER, 'List networks of the project.'
)
TENANT_NETWORKS_SHOW = base.rule(
    'os_compute_api:os-tenant-networks:show',
    base.READER,
    'Show one of the networks of the project.',
    'GET /os-tenant-networks/{network_id}',
)
