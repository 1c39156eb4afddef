"""Hypervisors, services and bare metal nodes."""

from nova_lite.api.policies import base

_BY_NAME = 'GET /os-hypervisors/{hypervisor_hostname_pattern}'
_NODES = '/os-baremetal-nodes'

HYPERVISORS = base.rule('os_compute_api:os-hypervisors:list', base.ADMIN, 'List hypervisors.')
HYPERVISORS_DETAIL = base.rule(
    'os_compute_api:os-hypervisors:list-detail', base.ADMIN, 'List hypervisors with details.'
)
HYPERVISORS_STATISTICS = base.rule(
    'os_compute_api:os-hypervisors:statistics', base.ADMIN, 'Show statistics over all hypervisors.'
)
HYPERVISOR_SHOW = base.rule('os_compute_api:os-hypervisors:show', base.ADMIN, 'Show a hypervisor.')
HYPERVISOR_UPTIME = base.rule(
    'os_compute_api:os-hypervisors:uptime', base.ADMIN, 'Show the uptime of a hypervisor.'
)
HYPERVISOR_SEARCH = base.rule(
    'os_compute_api:os-hypervisors:search',
    base.ADMIN,
    'Search hypervisors by name.',
    f'{_BY_NAME}/search',
)
HYPERVISOR_SERVERS = base.rule(
    'os_compute_api:os-hypervisors:servers',
    base.ADMIN,
    'List the servers on hypervisors.',
    f'{_BY_NAME}/servers',
)
SERVICES = base.rule('os_compute_api:os-services:list', base.ADMIN, 'List services.')
SERVICE_UPDATE = base.rule(
    'os_compute_api:os-services:update',
    base.ADMIN,
    'Enable or disable a service, or change its forced_down flag.',
    'PUT /os-services/enable',
    'PUT /os-services/disable',
    'PUT /os-services/disable-log-reason',
    'PUT /os-services/force-down',
    'PUT /os-services/{service_id}',
)
SERVICE_DELETE = base.rule('os_compute_api:os-services:delete', base.ADMIN, 'Delete a service.')
BAREMETAL_LIST = base.rule(
    'os_compute_api:os-baremetal-nodes:list', base.ADMIN, 'List bare metal nodes (up to 2.35).'
)
BAREMETAL_SHOW = base.rule(
    'os_compute_api:os-baremetal-nodes:show',
    base.ADMIN,
    'Show a bare metal node (up to 2.35).',
    f'GET {_NODES}/{{node_id}}',
)
