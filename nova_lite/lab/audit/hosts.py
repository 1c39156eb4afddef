"""Checks of services, compute nodes, host mappings and aggregates."""

from collections.abc import Iterator

from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits


def mapping_left(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H1: Each host mapping leads to a compute service in the cell that it names.

    The compute service was deleted, and its host mapping was not. Requests for the host
    fail in the cell.
    """
    computes = {host for cell in snapshot.cells for host in cell.computes}
    for host, cell_id in snapshot.host_mappings.items():
        cell = snapshot.by_id.get(cell_id)
        if host not in computes and cell is not None:
            detail = f'names cell {cell.name}, which has no compute service of this host'
            yield Violation(f'host mapping {host}', detail, cell=cell.uuid, host=host)


def mapped_elsewhere(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H2: Each host is mapped to the cell that has its compute service.

    The scheduler places servers on the host, and sends them to the wrong cell.
    """
    for cell in snapshot.cells:
        for host in sorted(cell.computes):
            mapped = snapshot.by_id.get(snapshot.host_mappings.get(host, cell.id))
            if mapped is not None and host not in mapped.computes:
                detail = f'is in cell {cell.name}, its host mapping names cell {mapped.name}'
                yield Violation(
                    f'host {host}', detail, host=host, wrong=mapped.uuid, cell=cell.uuid
                )


def unmapped(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H3: Each host with a compute node has a host mapping.

    The scheduler does not use a host that is not mapped.
    """
    for cell in snapshot.cells:
        for host in sorted(cell.computes & {node.host for node in cell.nodes}):
            if host not in snapshot.host_mappings:
                detail = f'in cell {cell.name} has no host mapping'
                yield Violation(f'host {host}', detail, cell=cell.uuid)


def in_two_cells(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H4: No host has compute services in two cells.

    The configuration of the host named another cell once. Only one host mapping can exist.
    """
    cells: dict[str, list[str]] = {}
    for cell in snapshot.cells:
        for host in cell.computes:
            cells.setdefault(host, []).append(cell.name)
    for host, names in sorted(cells.items()):
        if len(names) > 1:
            detail = f'has a compute service in each of {", ".join(sorted(names))}'
            yield Violation(f'host {host}', detail, host=host)


def node_left(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H5: Each compute node has a compute service.

    Deleting a compute service also deletes its compute nodes. A node that stays is counted in
    the statistics of hypervisors, and its provider in placement gets no servers.
    """
    for cell in snapshot.cells:
        for node in cell.nodes:
            if node.host not in cell.computes:
                detail = f'in cell {cell.name} has no compute service of host {node.host}'
                yield Violation(f'compute node {node.hypervisor_hostname}', detail, host=node.host)


def without_node(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H6: Each compute service that is up has a compute node.

    The service runs, but could not report its resources; its log says why. With Ironic, a
    service without a bare-metal node has none: there this is no error.
    """
    for cell in snapshot.cells:
        with_node = {node.host for node in cell.nodes}
        for host in sorted(cell.computes - with_node - cell.down):
            detail = f'in cell {cell.name} is up and has no compute node'
            yield Violation(f'compute service {host}', detail, host=host)


def servers_nowhere(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H7: Each server on a host has that host's compute node in its own cell.

    The host was deleted or renamed while it had servers. No request reaches such a server.
    """
    for cell, row in snapshot.resting():
        if (row.host, row.node) not in cell.node_uuids:
            detail = f'is on {row.host} ({row.node}), which is no compute node of cell {cell.name}'
            yield Violation(f'server {row.uuid}', detail, server=row.uuid)


def members_absent(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H8: Each host of an aggregate exists.

    The compute service was deleted, and its membership was not. A new host with the same
    name would get the zone and the metadata of the aggregate.
    """
    computes = {host for cell in snapshot.cells for host in cell.computes}
    for aggregate, hosts in snapshot.aggregates:
        for host in sorted(hosts - computes):
            detail = f'has the host {host}, which has no compute service'
            what = f'aggregate {aggregate.name}'
            yield Violation(
                f'{what} with host {host}', detail, aggregate=str(aggregate.id), host=host
            )


def without_provider(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H9: Each compute node has a resource provider.

    Placement does not offer the host. The compute service creates the provider when it
    updates its resources; if it does not, its log says why.
    """
    for node in _nodes_of_computes(snapshot):
        if node.uuid not in snapshot.placement.providers:
            detail = f'({node.uuid}) of host {node.host} has no resource provider'
            yield Violation(f'compute node {node.hypervisor_hostname}', detail, host=node.host)


def provider_left(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H10: Each resource provider of a compute node has the compute node.

    The compute node was deleted while the provider had allocations, or its host was renamed.
    Placement offers it to requests, and builds there fail. Its allocations must go first.
    """
    nodes = {node.uuid for cell in snapshot.cells for node in cell.nodes}
    for uuid, provider in snapshot.placement.providers.items():
        if provider.root == uuid and uuid not in nodes:
            detail = f'({uuid}) has no compute node'
            yield Violation(f'resource provider {provider.name}', detail, provider=uuid)


def not_in_placement(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H11: Each host of an aggregate is in placement's aggregate with the same uuid.

    Requests that placement limits to an aggregate, such as those of an availability zone, do
    not get the host.
    """
    for uuid, provider, wanted in _memberships(snapshot):
        for aggregate in sorted(wanted.keys() - provider.aggregates):
            detail = f'({uuid}) is not in the aggregate {wanted[aggregate]} ({aggregate})'
            yield Violation(f'resource provider {provider.name}', detail)


def only_in_placement(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """H12: Each provider in placement's aggregate of a nova aggregate is a host of that aggregate.

    The host was removed from the aggregate while placement did not answer. Requests for the
    aggregate or its zone still get the host, and its filter then refuses it.
    """
    names = {aggregate.uuid: aggregate.name for aggregate, _hosts in snapshot.aggregates}
    for uuid, provider, wanted in _memberships(snapshot):
        for aggregate in sorted((provider.aggregates & names.keys()) - wanted.keys()):
            detail = (
                f'({uuid}) is in the aggregate {names[aggregate]} ({aggregate}), its host is not'
            )
            yield Violation(f'resource provider {provider.name}', detail, provider=uuid)


def _nodes_of_computes(snapshot: Snapshot) -> Iterator[observed.Row]:
    for cell in snapshot.cells:
        for node in cell.nodes:
            if node.host in cell.computes:
                yield node


def _memberships(snapshot: Snapshot) -> Iterator[tuple[str, observed.Provider, dict[str, str]]]:
    """Yield (uuid, provider, {aggregate uuid: name} of nova) of each compute node."""
    for node in _nodes_of_computes(snapshot):
        provider = snapshot.placement.providers.get(node.uuid)
        if provider is not None:
            wanted = {
                aggregate.uuid: aggregate.name
                for aggregate, hosts in snapshot.aggregates
                if node.host in hosts
            }
            yield node.uuid, provider, wanted
