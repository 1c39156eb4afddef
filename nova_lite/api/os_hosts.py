"""/os-hosts: what /os-services and /os-hypervisors are for, up to 2.42.

Source: reference/nova/api-surface 2.5 and 4.
"""

from collections.abc import Iterable
from collections.abc import Sequence

from nova_lite import exception
from nova_lite.api import hypervisor_records
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import service_changes
from nova_lite.api import service_records
from nova_lite.api.policies import os_hosts as rules
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import services

ALL, ONE = '/os-hosts', '/os-hosts/{host}'
UNTIL = '2.42'
QUERY = {'2.1': schema_parts.query({'zone': schema_parts.multi()})}
SWITCH = {'type': 'string', 'enum': ['enable', 'disable', 'Enable', 'Disable', 'ENABLE', 'DISABLE']}
BODY = {
    '2.1': {
        **schema_parts.whole({'status': SWITCH, 'maintenance_mode': SWITCH}),
        'minProperties': 1,
    }
}
DISABLED = {'disabled': True, 'disabled_reason': None}


@operation.operation('GET', ALL, until=UNTIL, policy=rules.HOSTS, query=QUERY, faults=(400, 403))
def index(req: request.Request) -> operation.Result:
    """List the hosts of services that are enabled."""
    # An empty zone is no zone.
    zone = req.param('zone') or None
    found = service_records.every(req, disabled=False).records
    return {
        'hosts': [
            {'host_name': each.row.host, 'service': each.row.topic, 'zone': each.zone}
            for each in found
            if zone in (None, each.zone)
        ]
    }


@operation.operation('GET', ONE, until=UNTIL, policy=rules.HOST_SHOW, faults=(400, 403, 404))
def show(req: request.Request) -> operation.Result:
    """Show the resources of a host, and their use by projects."""
    host = req.args['host']
    cell = req.app.cells.of_host(host)
    nodes = hypervisor_records.every(req, usage=True, host=host)
    if not nodes:
        raise exception.HostMappingNotFound(host=host)
    servers = cell.db.read(instances.on_host, host)
    by_project: dict[str, list[rows.Row]] = {}
    for row in servers:
        by_project.setdefault(row.project_id, []).append(row)
    listed = [
        ('(total)', _sum(nodes, 'vcpus', 'memory_mb', 'local_gb')),
        ('(used_now)', _sum(nodes, 'vcpus_used', 'memory_mb_used', 'local_gb_used')),
        ('(used_max)', _held(servers)),
        *((project, _held(own)) for project, own in by_project.items()),
    ]
    return {
        'host': [
            {
                'resource': {
                    'host': host,
                    'project': project,
                    'cpu': cpu,
                    'memory_mb': memory_mb,
                    'disk_gb': disk_gb,
                }
            }
            for project, (cpu, memory_mb, disk_gb) in listed
        ]
    }


def _sum(nodes: Iterable[hypervisor_records.Hypervisor], *names: str) -> tuple[int, ...]:
    return tuple(sum(node.amounts[name] for node in nodes) for name in names)


def _held(servers: Sequence[rows.Row]) -> tuple[int, int, int]:
    return (
        sum(row.vcpus for row in servers),
        sum(row.memory_mb for row in servers),
        sum(row.root_gb + row.ephemeral_gb for row in servers),
    )


@operation.operation(
    'PUT',
    ONE,
    until=UNTIL,
    policy=rules.HOST_UPDATE,
    body=BODY,
    faults=(400, 403, 404, 501),
)
def update(req: request.Request) -> operation.Result:
    """Enable or disable the host's compute service."""
    host = req.args['host']
    cell = req.app.cells.of_host(host)
    if 'maintenance_mode' in req.body:
        raise exception.NotImplementedHere(reason='hosts have no maintenance mode')
    row = cell.db.read(services.find, host)
    if row is None:
        raise exception.HostMappingNotFound(host=host)
    enabled = req.body['status'].lower() == 'enable'
    service_changes.apply(req, cell, row, service_changes.ENABLED if enabled else DISABLED)
    return {'host': host, 'status': 'enabled' if enabled else 'disabled'}


def _declare(action: str, policy: str) -> operation.Handler:
    @operation.operation(
        'GET', f'{ONE}/{action}', until=UNTIL, policy=policy, faults=(400, 403, 404, 501)
    )
    def act(req: request.Request) -> None:
        """Raise NotImplementedHere: the API cannot switch hosts on or off."""
        req.app.cells.of_host(req.args['host'])
        raise exception.NotImplementedHere(reason=f'hosts do not support the action {action}')

    return act


startup = _declare('startup', rules.HOST_START)
shutdown = _declare('shutdown', rules.HOST_SHUTDOWN)
reboot = _declare('reboot', rules.HOST_REBOOT)
