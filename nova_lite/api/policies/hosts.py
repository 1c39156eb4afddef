"""Hypervisors, services and bare metal nodes."""

from nova_lite.api.policies import base

HYPERVISORS = 'os_compute_api:os-hypervisors:list'
HYPERVISORS_DETAIL = 'os_compute_api:os-hypervisors:list-detail'
HYPERVISORS_STATISTICS = 'os_compute_api:os-hypervisors:statistics'
HYPERVISOR_SHOW = 'os_compute_api:os-hypervisors:show'
HYPERVISOR_UPTIME = 'os_compute_api:os-hypervisors:uptime'
HYPERVISOR_SEARCH = 'os_compute_api:os-hypervisors:search'
HYPERVISOR_SERVERS = 'os_compute_api:os-hypervisors:servers'
SERVICES = 'os_compute_api:os-services:list'
SERVICE_UPDATE = 'os_compute_api:os-services:update'
SERVICE_DELETE = 'os_compute_api:os-services:delete'
BAREMETAL_LIST = 'os_compute_api:os-baremetal-nodes:list'
BAREMETAL_SHOW = 'os_compute_api:os-baremetal-nodes:show'

_ALL = 'GET /os-hypervisors'
_ONE = 'GET /os-hypervisors/{hypervisor_id}'
_BY_NAME = 'GET /os-hypervisors/{hypervisor_hostname_pattern}'
_NODES = '/os-baremetal-nodes'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(HYPERVISORS, base.ADMIN, 'List hypervisors.', _ALL),
        base.rule(
            HYPERVISORS_DETAIL, base.ADMIN, 'List hypervisors with details.', f'{_ALL}/detail'
        ),
        base.rule(
            HYPERVISORS_STATISTICS,
            base.ADMIN,
            'Show statistics over all hypervisors.',
            f'{_ALL}/statistics',
        ),
        base.rule(HYPERVISOR_SHOW, base.ADMIN, 'Show a hypervisor.', _ONE),
        base.rule(
            HYPERVISOR_UPTIME, base.ADMIN, 'Show the uptime of a hypervisor.', f'{_ONE}/uptime'
        ),
        base.rule(
            HYPERVISOR_SEARCH, base.ADMIN, 'Search hypervisors by name.', f'{_BY_NAME}/search'
        ),
        base.rule(
            HYPERVISOR_SERVERS,
            base.ADMIN,
            'List the servers on hypervisors.',
            f'{_BY_NAME}/servers',
        ),
        base.rule(SERVICES, base.ADMIN, 'List services.', 'GET /os-services'),
        base.rule(
            SERVICE_UPDATE,
            base.ADMIN,
            'Enable or disable a service, or change its forced_down flag.',
            'PUT /os-services/enable',
            'PUT /os-services/disable',
            'PUT /os-services/disable-log-reason',
            'PUT /os-services/force-down',
            'PUT /os-services/{service_id}',
        ),
        base.rule(
            SERVICE_DELETE, base.ADMIN, 'Delete a service.', 'DELETE /os-services/{service_id}'
        ),
        base.rule(
            BAREMETAL_LIST, base.ADMIN, 'List bare metal nodes (up to 2.35).', f'GET {_NODES}'
        ),
        base.rule(
            BAREMETAL_SHOW,
            base.ADMIN,
            'Show a bare metal node (up to 2.35).',
            f'GET {_NODES}/{{node_id}}',
        ),
    ]
