"""Hosts of the servers to which a request refers: members of its group, and hints.

They are read for each request from the API database and the cells, since no messages keep the
hosts of servers up to date. Source: reference/nova/scheduling 6, 12.
"""

import collections
import collections.abc
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import server_groups
from nova_lite.db.cell import group_places
from nova_lite.objects import request_spec
from nova_lite.scheduler import host_states
from nova_lite.scheduler import scheduling_request

LOG = log.getLogger(__name__)

# A group's record, and the uuids of its members.
Members: typing.TypeAlias = tuple[rows.Row | None, list[str]]

HINTS = ('same_host', 'different_host')
NEEDED = {
    'affinity': 'ServerGroupAffinityFilter',
    'anti-affinity': 'ServerGroupAntiAffinityFilter',
    'soft-affinity': 'ServerGroupSoftAffinityWeigher',
    'soft-anti-affinity': 'ServerGroupSoftAntiAffinityWeigher',
}


def read(
    cells: deployment.Cells,
    states: host_states.HostStates,
    spec: request_spec.RequestSpec,
    known: collections.abc.Container[str],
    *,
    own: collections.abc.Collection[str],
) -> tuple[scheduling_request.Group | None, scheduling_request.HostsOf]:
    """Return (Group or None, {server uuid: {host, ...}}) of a spec.

    known: names of the filters and weighers in use
    own: servers that are to be placed; of these only the current host counts
    Raise NoValidHost if no filter or weigher in use implements the group's policy.
    """
    named = {uuid for hint in HINTS for uuid in spec.scheduler_hints.get(hint, ())}
    row, members = _members(cells.api_db, spec.group_uuid) if spec.group_uuid else (None, [])
    hosts_of = locate(cells, states, named | set(members), own=own)
    if row is None:
        return None, hosts_of
    if NEEDED[row.policy] not in known:
        raise exception.NoValidHost(
            reason=f'ServerGroup policy is not supported: {NEEDED[row.policy]} not configured'
        )
    members_on = collections.Counter(host for uuid in members for host in hosts_of.get(uuid, ()))
    limit = int((row.rules or {}).get('max_server_per_host', 1))
    return scheduling_request.Group(row.uuid, row.policy, members_on, limit), hosts_of


def _members(api_db: transactions.Database, group_uuid: str) -> Members:
    """Return (row, uuids of the members); (None, []) for a group that was deleted."""
    try:
        found: Members = api_db.read(_read_members, group_uuid)
    except exception.ServerGroupNotFound:
        LOG.info('Server group %s was deleted; ignoring its policy', group_uuid)
        return None, []
    return found


def _read_members(connection: sa.Connection, group_uuid: str) -> Members:
    row = server_groups.get(connection, group_uuid)
    return row, server_groups.members(connection, [row.id]).get(row.id, [])


def locate(
    cells: deployment.Cells,
    states: host_states.HostStates,
    uuids: collections.abc.Collection[str],
    *,
    own: collections.abc.Collection[str] = (),
) -> scheduling_request.HostsOf:
    """Return {server uuid: {host, ...}}. A server that moves or may be reverted has two hosts.

    A server that was just placed counts although no record shows it yet, until its task ends.

    own: see `read`
    """
    if not uuids:
        return {}
    # The pending servers are read first: a server whose record names its host is no longer pending.
    pending = states.pending(uuids)
    found: scheduling_request.HostsOf = collections.defaultdict(set)
    mappings = cells.api_db.read(instance_mappings.of, uuids)
    wanted = {row.cell_id for row in mappings if row.cell_id is not None}
    settled = set(own)
    for cell, answer in cells.scatter(
        group_places.of_servers, list(uuids), own, cells=[cells.by_id(one) for one in wanted]
    ).items():
        if not isinstance(answer, tuple):
            LOG.warning('Cannot read the hosts of servers in cell %s: %s', cell.name, answer)
            continue
        hosts, at_rest = answer
        settled |= at_rest
        for uuid, places in hosts.items():
            found[uuid] |= places
    for uuid, placed in pending.items():
        if uuid not in settled and (placed.moving or not found[uuid]):
            found[uuid].add(placed.host)
    return {uuid: hosts for uuid, hosts in found.items() if hosts}
