"""The placement rules of I12, written without the scheduler's code."""

import collections
from collections.abc import Iterator
import typing

from nova_lite import states
from nova_lite.db import rows
from nova_lite.verify import allowed_hosts
from nova_lite.verify import observed

# A server and what is wrong with its host.
Violations: typing.TypeAlias = Iterator[tuple[str, str]]
Status = states.MigrationStatus
# Of migrations that are about to take their server to their destination.
COMING = (
    Status.PREPARING,
    Status.RUNNING,
    Status.PRE_MIGRATING,
    Status.MIGRATING,
    Status.POST_MIGRATING,
)
# Of migrations that have taken their server to their destination.
ARRIVED = (Status.FINISHED, Status.CONFIRMING, Status.CONFIRMED, Status.COMPLETED, Status.DONE)


def violations(snapshot: observed.Snapshot) -> Violations:
    """Yield (server uuid, problem) of servers on hosts where they must not be."""
    servers = {row.uuid: row for _cell, row in snapshot.instances() if not row.hidden and row.host}
    forced = _moved_by_force(snapshot, {uuid: row.host for uuid, row in servers.items()})
    hosts = {uuid: row.host for uuid, row in servers.items() if uuid not in forced}
    yield from _zones(snapshot, hosts)
    yield from _isolation(snapshot, hosts)
    # A server whose deletion was accepted is no member of its group.
    members = {uuid: row.host for uuid, row in servers.items() if not observed.is_going(row)}
    yield from _groups(snapshot, members, forced)


def _arriving(snapshot: observed.Snapshot) -> dict[str, str]:
    """Return {server: host} of servers that a move in progress will take there."""
    busy = snapshot.busy()
    return {
        each.instance_uuid: each.dest_compute
        for cell in snapshot.cells
        for each in cell.migrations
        if each.instance_uuid in busy and each.status in COMING and not each.forced
    }


def _forced(spec: dict[str, typing.Any]) -> bool:
    return bool(spec.get('force_hosts') or spec.get('force_nodes'))


def _moved_by_force(snapshot: observed.Snapshot, hosts: dict[str, str]) -> set[str]:
    """Return the servers whose last move, to their host, did not ask the scheduler.

    That is the operator's word, until another move takes the server elsewhere.
    """
    last = {
        migration.instance_uuid: migration
        for cell in snapshot.cells
        for migration in sorted(cell.migrations, key=lambda each: each.id)
        if _has_arrived(migration, hosts) and not migration.hidden
    }
    return {
        uuid for uuid, each in last.items() if each.forced and each.dest_compute == hosts.get(uuid)
    }


def _has_arrived(migration: rows.Row, hosts: dict[str, str]) -> bool:
    """Return whether a move took its server there. One in error may have failed afterwards."""
    if migration.status == Status.ERROR:
        return bool(hosts.get(migration.instance_uuid) == migration.dest_compute)
    return migration.status in ARRIVED


def _zones(snapshot: observed.Snapshot, hosts: dict[str, str]) -> Violations:
    """Yield a server that asked for a zone which some aggregate is, is in such an aggregate."""
    zones = {
        aggregate.metadata.get(allowed_hosts.ZONE) for aggregate, _hosts in snapshot.aggregates
    }
    for uuid, host in hosts.items():
        spec = snapshot.specs.get(uuid, {})
        demand = allowed_hosts.demand_of(spec)
        outside = demand.zone and allowed_hosts.is_outside_zone(
            _place(snapshot, host), demand, zones
        )
        if outside and not _forced(spec):
            yield uuid, f'asked for zone {demand.zone} and is on {host}'


def _isolation(snapshot: observed.Snapshot, hosts: dict[str, str]) -> Violations:
    """Check that a server in an isolated aggregate asks for every trait that this requires.

    Hosts forced at create are no exception. An aggregate that was isolated, or a host put
    into it, when the server was there already is found too.
    """
    if not snapshot.isolated_aggregates:
        return
    for uuid, host in hosts.items():
        missing = allowed_hosts.unlicensed(
            _place(snapshot, host), allowed_hosts.demand_of(snapshot.specs.get(uuid, {}))
        )
        if missing:
            yield (
                uuid,
                f'is on {host}, in an aggregate for servers that require '
                f'{", ".join(sorted(missing))}',
            )


def _place(snapshot: observed.Snapshot, host: str) -> allowed_hosts.Place:
    return allowed_hosts.Place(
        host,
        [aggregate.metadata for aggregate, members in snapshot.aggregates if host in members],
        frozenset(),
    )


def _groups(snapshot: observed.Snapshot, hosts: dict[str, str], moved: set[str]) -> Violations:
    """Hard policies of server groups hold among the members that were not forced.

    moved: servers that were moved to their hosts by force
    """
    arriving = _arriving(snapshot)
    for group, members in snapshot.groups.values():
        there = [uuid for uuid in members if uuid in hosts]
        free = [
            uuid
            for uuid in there
            if uuid not in moved and not _forced(snapshot.specs.get(uuid, {}))
        ]
        used = {hosts[uuid] for uuid in free}
        # Members of an affinity group may follow one that was forced.
        followed = {hosts[uuid] for uuid in there if uuid not in free}
        if group.policy == 'affinity' and len(used - followed) > 1:
            yield free[0], f'group {group.uuid} wants affinity and is on {sorted(used)}'
        taken = collections.Counter(
            host for uuid in free for host in {hosts[uuid], arriving.get(uuid, hosts[uuid])}
        )
        most = int(group.rules.get('max_server_per_host', 1))
        if group.policy == 'anti-affinity' and used and max(taken.values()) > most:
            yield free[0], f'group {group.uuid} wants anti-affinity and has {dict(taken)}'
