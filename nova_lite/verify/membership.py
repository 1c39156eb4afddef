"""Hosts, services and groups name each other (I5)."""

from collections.abc import Iterator

from nova_lite.verify import findings
from nova_lite.verify import observed

Finding = findings.Finding
COMPUTE = 'nova-compute'


def hosts(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: host mappings, compute services and compute nodes belong together."""
    cells = {cell.id: cell for cell in snapshot.cells}
    mapped = {each.host: each.cell_id for each in snapshot.host_mappings}
    for host, cell_id in mapped.items():
        cell = cells.get(cell_id)
        if cell is None:
            continue  # of a disabled cell nothing is read
        if host not in _computes(cell):
            yield Finding('I5', f'host mapping {host}', f'has no compute service in {cell.name}')
    for cell in snapshot.cells:
        computes = _computes(cell)
        for node in cell.nodes:
            if node.host not in computes:
                yield Finding(
                    'I5', f'compute node {node.hypervisor_hostname}', f'has no service {node.host}'
                )
        used = {row.host for row in cell.instances if row.host}
        for host in computes:
            if mapped.get(host, cell.id) != cell.id:
                yield Finding('I2', f'host {host}', f'is in {cell.name}, its mapping differs')
            elif host not in mapped and host in used:
                yield Finding('I5', f'host {host}', f'in {cell.name} has servers and no mapping')
        for host in computes - {node.host for node in cell.nodes} - cell.down:
            yield Finding('I5', f'compute service {host}', 'is up and has no compute node')


def _computes(cell: observed.CellSnapshot) -> set[str]:
    return {service.host for service in cell.services if service.binary == COMPUTE}


def groups(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: the members of server groups exist."""
    for uuid, (_group, members) in snapshot.groups.items():
        for member in members - snapshot.mappings.keys() - snapshot.build_requests.keys():
            yield Finding('I5', f'member {member} of group {uuid}', 'does not exist')
