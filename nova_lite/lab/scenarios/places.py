"""The choice of hosts for the roles of a drill."""

import collections
from collections.abc import Iterable
from collections.abc import Mapping

from nova_lite import exception
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills


class NoPlaces(exception.Conflict):
    msg = (
        'Scenario %(name)s needs %(cluster)s, which are up, enabled and without injected faults. '
        'The cloud has %(found)s. Start a cloud for drills, for example with `nova-lite up --name '
        'drills`, or a copy of this one with `nova-lite fork`'
    )


def choose(drill: drills.Drill, cloud: clients.Cloud) -> dict[str, str]:
    """Return {role: host, label of a cell: name of the cell}. Raise NoPlaces, Unavailable."""
    free = _free(cloud)
    labels = collections.Counter(drill.hosts.values())
    chosen: dict[str, str] = {}
    for label, count in labels.most_common():
        cell = next((name for name, hosts in free.items() if len(hosts) >= count), None)
        if cell is None:
            found = ', '.join(f'{len(hosts)} in {name}' for name, hosts in _free(cloud).items())
            raise NoPlaces(name=drill.name, cluster=drill.cluster, found=found or 'none')
        chosen[label] = cell
        chosen.update(_roles(drill.hosts, label, free.pop(cell)))
    return chosen


def _roles(roles: Mapping[str, str], label: str, hosts: Iterable[str]) -> dict[str, str]:
    return dict(zip((role for role, cell in roles.items() if cell == label), hosts, strict=False))


def _free(cloud: clients.Cloud) -> dict[str, list[str]]:
    """Return {cell: hosts that are up, enabled and have no server}."""
    found = cloud.read('/os-services?binary=nova-compute')
    cells: dict[str, list[str]] = collections.defaultdict(list)
    for service in sorted(found['services'], key=lambda each: each['host']):
        is_ready = service['state'] == 'up' and service['status'] == 'enabled'
        if is_ready and not service['forced_down'] and not _has_servers(cloud, service['host']):
            cells[cell_of(service['host'])].append(service['host'])
    return cells


def _has_servers(cloud: clients.Cloud, host: str) -> bool:
    found = cloud.read(f'/servers?all_tenants=1&host={host}&limit=1')
    return bool(found['servers'])


def cell_of(host: str) -> str:
    """Return the cell of a host of an embedded cloud."""
    return host.rpartition('-')[0]
