"""Hosts, services and groups name each other (I5)."""

from collections.abc import Iterator

from nova_lite.verify import findings
from nova_lite.verify import picture as pictures

Finding = findings.Finding
COMPUTE = 'nova-compute'


def hosts(picture: pictures.Picture) -> Iterator[findings.Finding]:
    """I5: host mappings, compute services and compute nodes belong together."""
    cells = {cell.id: cell for cell in picture.cells}
    mapped = {each.host: each.cell_id for each in picture.host_mappings}
    for host, cell_id in mapped.items():
        cell = cells.get(cell_id)
        if cell is None:
            continue  # of a disabled cell nothing is read
        if host not in _computes(cell):
            yield Finding('I5', f'host mapping {host}', f'has no compute service in {cell.name}')
    for cell in picture.cells:
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


def _computes(cell: pictures.CellPicture) -> set[str]:
    return {service.host for service in cell.services if service.binary == COMPUTE}


def groups(picture: pictures.Picture) -> Iterator[findings.Finding]:
    """I5: the members of server groups exist."""
    for uuid, (_group, members) in picture.groups.items():
        for member in members - picture.mappings.keys() - picture.build_requests.keys():
            yield Finding('I5', f'member {member} of group {uuid}', 'does not exist')
