"""Checks of placement's allocations against servers and migrations."""

import collections
from collections.abc import Iterator
from collections.abc import Mapping

from nova_lite import states
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits
_V = states.VmState
OFFLOADED = _V.SHELVED_OFFLOADED
EVACUATION, DONE = states.MigrationType.EVACUATION, states.MigrationStatus.DONE
DISK = 'DISK_GB'
# Dedicated CPUs are VCPU on hosts that do not offer PCPU.
CPUS = ('VCPU', 'PCPU')


def missing(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P1: Each server on a host has allocations.

    Placement believes that the resources of the server are free, and gives them away again.
    """
    for row, _own in _placed(snapshot):
        if not _held(snapshot, row.uuid):
            detail = f'is on {row.host} ({row.node}) and holds nothing'
            yield Violation(f'server {row.uuid}', detail, server=row.uuid)


def wrong_size(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P2: Each server holds the amounts that its flavor asks for.

    Compared are CPUs, memory and disk on the tree of the server's compute node. A server that
    boots from a volume needs no root disk.
    """
    for cell, row in snapshot.resting():
        node = _node_of(snapshot, row)
        held = _on_tree(snapshot, row.uuid, node)
        wanted = cell.amounts.get(row.uuid)
        if node is None or not held or wanted is None:
            continue
        found = _comparable(held)
        if snapshot.placement.shares_disks and DISK not in found:
            wanted = {name: amount for name, amount in wanted.items() if name != DISK}
        if found != wanted:
            detail = f'should hold {_sorted(wanted)} of {row.node} and holds {_sorted(found)}'
            yield Violation(f'server {row.uuid}', detail, server=row.uuid)


def wrong_host(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P3: No server at rest holds resources of another compute node than its own.

    A move ended halfway: the other host has less room than it could have. The source of an
    evacuation is exempt until its service has started again and released it.
    """
    left = {
        (row.instance_uuid, _uuid_of(snapshot, row.source_compute, row.source_node))
        for cell in snapshot.cells
        for row in cell.migrations
        if row.migration_type == EVACUATION and row.status == DONE
    }
    for row, own in _placed(snapshot):
        for root, providers in _roots(snapshot, row.uuid).items():
            if root != own and (row.uuid, root) not in left:
                for uuid, name in providers:
                    detail = f'is on {row.host} ({row.node}) and holds resources of {name}'
                    yield Violation(f'server {row.uuid}', detail, server=row.uuid, provider=uuid)


def on_no_host(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P4: No server without a host holds resources of a compute node.

    The server is offloaded, or its build failed. Its host has less room than it could have.
    """
    for uuid, records in snapshot.visible.items():
        if uuid in snapshot.open_migrations or any(row.host for _cell, row in records):
            continue
        for _cell, row in records:
            idle = not row.task_state and row.vm_state != _V.BUILDING
            roots = _roots(snapshot, uuid) if idle else {}
            if roots:
                names = sorted(name for each in roots.values() for _uuid, name in each)
                detail = f'is {row.vm_state} on no host and holds resources of {", ".join(names)}'
                yield Violation(f'server {uuid}', detail, server=uuid)


def orphaned(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P5: Each consumer of a compute node's resources is a server or a migration.

    The server was deleted while placement did not answer, or its record was removed. Other
    programs that allocate from compute nodes, such as Blazar, are consumers of their own:
    check what the consumer is before you delete its allocations.
    """
    known = snapshot.expected | {
        row.uuid for cell in snapshot.cells for row in cell.migrations if row.uuid
    }
    for consumer in sorted(snapshot.placement.allocations.keys() - known):
        for provider, held in _held(snapshot, consumer).items():
            what = _of_provider(snapshot, provider, held)
            detail = f'is neither a server nor a migration, and holds {what}'
            yield Violation(f'consumer {consumer}', detail, provider=provider)


def migration_over(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """P6: No migration that has ended holds resources.

    A migration holds the resources of its source until it is confirmed, reverted or has failed.
    """
    over = {
        row.uuid: row
        for cell in snapshot.cells
        for row in cell.migrations
        if row.uuid and row.status in observed.OVER
    }
    for consumer in sorted(snapshot.placement.allocations.keys() & over.keys()):
        row = over[consumer]
        for provider, held in _held(snapshot, consumer).items():
            what = _of_provider(snapshot, provider, held)
            detail = f'of server {row.instance_uuid} is {row.status} and holds {what}'
            yield Violation(f'migration {consumer}', detail, provider=provider)


def _held(snapshot: Snapshot, consumer: str) -> dict[str, observed.Amounts]:
    return snapshot.placement.allocations.get(consumer, {})


def _uuid_of(snapshot: Snapshot, host: str, node: str) -> str | None:
    """Return the uuid of a compute node, None if it does not exist."""
    for cell in snapshot.cells:
        found = cell.node_uuids.get((host, node))
        if found is not None:
            return found
    return None


def _node_of(snapshot: Snapshot, row: observed.Row) -> str | None:
    return _uuid_of(snapshot, row.host, row.node)


def _placed(snapshot: Snapshot) -> Iterator[tuple[observed.Row, str]]:
    """Yield (row, uuid) of each server at rest on a compute node that has a provider."""
    for _cell, row in snapshot.resting():
        uuid = _node_of(snapshot, row)
        if row.vm_state != OFFLOADED and uuid is not None and uuid in snapshot.placement.providers:
            yield row, uuid


def _roots(snapshot: Snapshot, consumer: str) -> dict[str, list[tuple[str, str]]]:
    """Return {root uuid: [(provider uuid, name), ...]} of the providers that a consumer uses."""
    found: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for uuid in _held(snapshot, consumer):
        provider = snapshot.placement.providers[uuid]
        found[provider.root].append((uuid, provider.name))
    return dict(found)


def _on_tree(snapshot: Snapshot, consumer: str, root: str | None) -> collections.Counter[str]:
    """Return the amounts that a consumer holds of all providers of a tree."""
    total: collections.Counter[str] = collections.Counter()
    for uuid, amounts in _held(snapshot, consumer).items():
        if snapshot.placement.providers[uuid].root == root:
            total.update(amounts)
    return total


def _comparable(held: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts of CPUs, memory and disk, the CPUs of both kinds as VCPU."""
    found = {'VCPU': sum(held.get(name, 0) for name in CPUS)}
    found |= {name: held.get(name, 0) for name in ('MEMORY_MB', DISK)}
    return {name: amount for name, amount in found.items() if amount}


def _of_provider(snapshot: Snapshot, uuid: str, held: Mapping[str, int]) -> str:
    return f'{_sorted(held)} of {snapshot.placement.providers[uuid].name}'


def _sorted(amounts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(amounts.items()))
