"""Placement's providers against compute nodes, services and aggregates (I4)."""

from collections.abc import Iterator

import os_resource_classes as orc
import os_traits

from nova_lite.db import rows
from nova_lite.verify import findings
from nova_lite.verify import observed

Finding = findings.Finding
DISABLED = os_traits.COMPUTE_STATUS_DISABLED
COMPUTE = 'nova-compute'
# {resource class: column of a compute node's record}
SIZES = {orc.VCPU: 'vcpus', orc.MEMORY_MB: 'memory_mb', orc.DISK_GB: 'local_gb'}


def providers(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I4: each compute node has a provider with its inventories, aggregates and status trait."""
    nodes = {}
    for cell in snapshot.cells:
        disabled = {
            service.host: service.disabled for service in cell.services if service.binary == COMPUTE
        }
        for node in cell.nodes:
            nodes[node.uuid] = node
            provider = snapshot.providers.get(node.uuid)
            what = f'provider {node.uuid} ({node.hypervisor_hostname})'
            if provider is None:
                yield Finding('I4', what, 'does not exist in placement')
                continue
            yield from _aggregates(snapshot, node, provider, what)
            if node.host not in cell.down and node.host in disabled:
                yield from _facts(node, provider, what, disabled=disabled[node.host])
    for uuid, provider in snapshot.providers.items():
        if os_traits.OWNER_NOVA in provider.traits and uuid not in nodes:
            yield Finding('I5', f'provider {uuid} ({provider.name})', 'has no compute node')


def _aggregates(
    snapshot: observed.Snapshot, node: rows.Row, provider: observed.Provider, what: str
) -> Iterator[findings.Finding]:
    """Yield a finding if memberships in aggregates of this cloud differ. Others are ignored."""
    ours = {aggregate.uuid for aggregate, _hosts in snapshot.aggregates}
    wanted = {aggregate.uuid for aggregate, hosts in snapshot.aggregates if node.host in hosts}
    found = provider.aggregates & ours
    if found != wanted:
        yield Finding(
            'I4',
            f'aggregates of {what}',
            f'are {sorted(found)} in placement and {sorted(wanted)} on record',
        )


def _facts(
    node: rows.Row, provider: observed.Provider, what: str, *, disabled: bool
) -> Iterator[findings.Finding]:
    """Yield findings about inventories that the host reports. It may lack a class entirely."""
    for name, column in SIZES.items():
        total = provider.inventories.get(name, {}).get('total')
        if total is not None and total != getattr(node, column):
            yield Finding(
                'I4', f'{name} of {what}', f'is {total}, on record is {getattr(node, column)}'
            )
    if disabled != (DISABLED in provider.traits):
        trait = 'has' if DISABLED in provider.traits else 'lacks'
        yield Finding('I4', f'traits of {what}', f'it {trait} {DISABLED}; disabled: {disabled}')
