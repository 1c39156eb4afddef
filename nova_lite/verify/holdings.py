"""Resources that servers and moves should have: allocations, and guests on nodes."""

import collections
from collections.abc import Iterator
from collections.abc import Mapping
import typing

from nova_lite import states
from nova_lite.clients import holdings as client_holdings
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.scheduler import query
from nova_lite.verify import numa
from nova_lite.verify import observed

# By resource class.
Amounts: typing.TypeAlias = dict[str, int]

NOWHERE = (states.VmState.SHELVED_OFFLOADED, states.VmState.DELETED)
# A record may or may not have a guest while one of these runs, or after a failure.
UNSETTLED = (states.VmState.BUILDING, states.VmState.ERROR)

# A migration of these statuses waits for its user; the source is kept for a revert.
KEPT = (
    states.MigrationStatus.FINISHED,
    states.MigrationStatus.CONFIRMING,
    states.MigrationStatus.REVERTING,
)


def expected(snapshot: observed.Snapshot) -> dict[str, dict[str, Amounts]]:
    """Return the expected {consumer: {provider uuid: {resource class: amount}}}.

    Consumers of moves in progress are left out, because their allocations change.
    """
    wanted: dict[str, dict[str, Amounts]] = collections.defaultdict(dict)
    nodes = {
        (node.host, node.hypervisor_hostname): node.uuid
        for cell in snapshot.cells
        for node in cell.nodes
    }
    settled, shown = {}, {}
    nested = _Nested(snapshot)

    def amounts(consumer: str, provider: str, row: rows.Row, flavor: session.Json) -> Amounts:
        held = snapshot.allocations.get(consumer, {}).get(provider, {})
        below = nested.virtual_classes(provider, flavor)
        found = resources(row, flavor, snapshot, held)
        return {name: amount for name, amount in found.items() if name not in below}

    for _cell, row in snapshot.instances():
        if row.hidden:
            continue
        shown[row.uuid] = row
        if not row.host or row.vm_state in NOWHERE:
            continue
        settled[row.uuid] = row
        provider = nodes.get((row.host, row.node))
        if provider is not None:
            wanted[row.uuid][provider] = amounts(row.uuid, provider, row, row.flavor)
            wanted[row.uuid].update(nested.of(provider, row, row.flavor))
    for migration in migrations(snapshot):
        server = shown.get(migration.instance_uuid)
        provider = nodes.get((migration.source_compute, migration.source_node))
        if server is None or provider is None:
            continue
        row = server
        if migration.status in KEPT and row.uuid in settled:
            flavor = row.old_flavor or row.flavor
            wanted[migration.uuid][provider] = amounts(migration.uuid, provider, row, flavor)
            wanted[migration.uuid].update(nested.of(provider, row, flavor))
        elif is_evacuated(migration) and migration.source_compute in down(snapshot):
            # Its flavor may have been another when it left: something must be held.
            held = snapshot.allocations.get(row.uuid, {}).get(provider)
            found = held or amounts(row.uuid, provider, row, row.flavor)
            wanted[row.uuid].setdefault(provider, found)
            wanted[row.uuid].update(_below(snapshot, row.uuid, provider))
    for consumer in under_way(snapshot):
        wanted.pop(consumer, None)
    return wanted


class _Nested:
    """The allocations of servers from providers below those of nodes: for ports and devices."""

    def __init__(self, snapshot: observed.Snapshot) -> None:
        self._nodes = {node.uuid: node for cell in snapshot.cells for node in cell.nodes}
        self._of_ports = port_amounts(snapshot)

    def of(self, provider: str, row: rows.Row, flavor: session.Json) -> dict[str, Amounts]:
        """Return {provider uuid: amounts} of a server with a flavor on a node."""
        node = self._nodes[provider]
        of_ports = self._of_ports.get((row.uuid, node.host), {})
        return {**of_ports, **numa.device_allocations(node, row, flavor)}

    def virtual_classes(self, provider: str, flavor: session.Json) -> frozenset[str]:
        """Return the resource classes that physical GPUs of a node have, in place of the node."""
        return numa.virtual_classes(self._nodes[provider], flavor)


def port_amounts(snapshot: observed.Snapshot) -> dict[tuple[str, str], dict[str, Amounts]]:
    """Return {(server uuid, host): {provider uuid: amounts}} of what ports hold there."""
    found: dict[tuple[str, str], dict[str, Amounts]] = collections.defaultdict(dict)
    for port in snapshot.ports:
        for host, allocation in snapshot.port_allocations.get(port['id'], {}).items():
            profile = {resource_requests.ALLOCATION: allocation}
            held = resource_requests.amounts({**port, resource_requests.PROFILE: profile})
            client_holdings.add(found[port['device_id'], host], held)
    return found


def _below(snapshot: observed.Snapshot, consumer: str, node: str) -> dict[str, Amounts]:
    """Return the allocations of a consumer from the providers below a node's provider."""
    return {
        uuid: amounts
        for uuid, amounts in snapshot.allocations.get(consumer, {}).items()
        if uuid != node and uuid in snapshot.providers and snapshot.providers[uuid].root == node
    }


def under_way(snapshot: observed.Snapshot) -> set[str]:
    """Return the consumers of moves that a saga works at: servers and their migrations."""
    servers = {saga.instance_uuid for saga in snapshot.sagas if saga.active_for}
    return servers | {
        migration.uuid for migration in migrations(snapshot) if migration.instance_uuid in servers
    }


def migrations(snapshot: observed.Snapshot) -> Iterator[rows.Row]:
    """Return every migration of every cell."""
    return (migration for cell in snapshot.cells for migration in cell.migrations)


def is_evacuated(migration: rows.Row) -> bool:
    """Return whether the source of an evacuation has not cleaned up yet."""
    evacuates = migration.migration_type == states.MigrationType.EVACUATION
    return bool(evacuates and migration.status == states.MigrationStatus.DONE)


def down(snapshot: observed.Snapshot) -> set[str]:
    """Return hosts that cannot clear what an evacuation left on them: their services are not up."""
    return {host for cell in snapshot.cells for host in cell.down}


def _up(snapshot: observed.Snapshot) -> set[str]:
    """Return hosts whose services are up. An administrator may have deleted those of others."""
    return {service.host for cell in snapshot.cells for service in cell.services} - down(snapshot)


def resources(
    row: rows.Row, flavor: session.Json, snapshot: observed.Snapshot, held: Mapping[str, int]
) -> Amounts:
    """Return {resource class: amount} of a server with a flavor (plain values).

    held: its allocations; on a host without PCPU dedicated CPUs are VCPU
    """
    spec = snapshot.specs.get(row.uuid, {})
    wanted = query.held(flavor, spec)
    if 'PCPU' in wanted and 'PCPU' not in held:
        return query.held(flavor, spec, pinned=False)
    return wanted


def guests_expected(snapshot: observed.Snapshot) -> set[tuple[str, str]]:
    """Return {(server uuid, node)} where a guest may be."""
    present = _up(snapshot)
    placed = {(row.uuid, row.node) for _cell, row in snapshot.instances() if row.host}
    for migration in migrations(snapshot):
        if migration.status not in states.MIGRATION_OVER:
            placed.add((migration.instance_uuid, migration.dest_node))
        left = is_evacuated(migration) and migration.source_compute not in present
        if migration.status not in states.MIGRATION_OVER or left:
            placed.add((migration.instance_uuid, migration.source_node))
    return placed


def guests_required(snapshot: observed.Snapshot) -> set[tuple[str, str]]:
    """Return {(server uuid, node)} where a guest must be."""
    return {
        (row.uuid, row.node)
        for _cell, row in snapshot.instances()
        if row.host
        and not row.hidden
        and not row.task_state
        and row.vm_state not in NOWHERE
        and row.vm_state not in UNSETTLED
    }
