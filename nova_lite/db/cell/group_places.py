"""Hosts of the members of server groups in a cell, and those of their open moves.

A host belongs to one cell, and a process that assigns a host to a server writes that in the cell:
in the server's record, or in the migration to that host. This transaction, or a later one if the
record is a copy from another cell, checks the group's hard policy, because other members may have
begun to build or to move since the scheduler's decision.
Source: decision 0011, reference/nova/create-server 2.3.
"""

import collections
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from nova_lite.dialects import writing
from nova_lite.objects import instance_group

# {server uuid: its hosts}
Places: typing.TypeAlias = dict[str, set[str]]

INSTANCES = models.Instance.__table__
MIGRATIONS = models.Migration.__table__
_MEMBERS = (
    sa.select(
        INSTANCES.c.uuid,
        INSTANCES.c.host,
        INSTANCES.c.vm_state,
        INSTANCES.c.task_state,
    )
    .where(INSTANCES.c.deleted.is_(False))
    .order_by(INSTANCES.c.id)
)
_SERVERS = _MEMBERS.where(INSTANCES.c.uuid.in_(sa.bindparam('uuids')))
# A server whose deletion was accepted is no longer a member.
_GROUP = _MEMBERS.where(INSTANCES.c.group_uuid == sa.bindparam('group'), sa.not_(instances.GOES))
_HOLD_GROUP = writing.locking(_GROUP)
# The record of an evacuation names a requested host before it is chosen.
_ONLY_REQUESTED = sa.and_(
    MIGRATIONS.c.migration_type == str(states.MigrationType.EVACUATION),
    MIGRATIONS.c.status == str(states.MigrationStatus.ACCEPTED),
)
_OPEN_MOVES = sa.select(
    MIGRATIONS.c.instance_uuid,
    MIGRATIONS.c.source_compute,
    sa.case((_ONLY_REQUESTED, None), else_=MIGRATIONS.c.dest_compute),
).where(
    MIGRATIONS.c.instance_uuid.in_(sa.bindparam('uuids')),
    MIGRATIONS.c.status.not_in(migrations.OVER),
)


def of_servers(
    connection: sa.Connection, uuids: Iterable[str], own: Container[str] = ()
) -> tuple[Places, set[str]]:
    """Return the hosts of servers, and the uuids of those that have no task.

    The hosts are the server's own and both ends of its open moves. A server without a host and
    without an open move is left out.

    own: servers whose move is being decided; of these only the current host counts
    """
    members = connection.execute(_SERVERS, {'uuids': list(uuids)}).all()
    at_rest = {member.uuid for member in members if member.task_state is None}
    return _places(connection, members, building=True, own=own), at_rest


def of_group(connection: sa.Connection, group_uuid: str, *, building: bool = False) -> Places:
    """Return the result of `of_servers` for all members of a group, with hidden records.

    Members that are being deleted, or can be restored, are left out.

    building: whether a host counts that has not begun to build the server
    """
    members = connection.execute(_GROUP, {'group': group_uuid}).all()
    return _places(connection, members, building=building)


def hold_group(connection: sa.Connection, group_uuid: str) -> Places:
    """Return the result of `of_group`. Lock the members' records until the transaction ends.

    A decision about a member also locks the member's own record. So of two concurrent decisions
    one waits, and then reads the result of the other. The records are read again, because a
    statement of PostgreSQL that has waited does not see records that were added since.
    """
    connection.execute(_HOLD_GROUP, {'group': group_uuid})
    return of_group(connection, group_uuid)


def _places(
    connection: sa.Connection,
    members: Sequence[rows.Row],
    *,
    building: bool,
    own: Container[str] = (),
) -> Places:
    found: collections.defaultdict[str, set[str]] = collections.defaultdict(set)
    for member in members:
        if member.host is not None and (building or not _is_awaited(member)):
            found[member.uuid].add(member.host)
    uuids = [member.uuid for member in members if member.uuid not in own]
    for uuid, *ends in connection.execute(_OPEN_MOVES, {'uuids': uuids}):
        found[uuid].update(host for host in ends if host is not None)
    return {uuid: hosts for uuid, hosts in found.items() if hosts}


def _is_awaited(member: rows.Row) -> bool:
    """Return whether the chosen host has not begun the build, which it will check then."""
    return bool(
        member.vm_state == states.VmState.BUILDING
        and member.task_state == states.TaskState.SCHEDULING
    )


def check(
    connection: sa.Connection, uuid: str, host: str, group: instance_group.Group | None
) -> None:
    """Raise GroupPolicyViolated if `group` forbids `host` for its member `uuid`.

    connection: that of a transaction in the host's cell, which records `host` for the server, or
        follows the one that has; until it ends no other member is checked
    group: {'uuid', 'policy', 'rules'}, or None
    """
    if group is None:
        return
    require(group, host, hold_group(connection, group['uuid']), {uuid})


def require(group: instance_group.Group, host: str, places: Places, own: Container[str]) -> None:
    """Raise GroupPolicyViolated if members at `places` forbid further members on `host`.

    An affinity group that a forced move has split may grow on each of its hosts, as in nova.

    places: {server uuid: {host, ...}}; own: uuids of the servers that will be placed on `host`
    """
    others = [hosts for uuid, hosts in places.items() if uuid not in own]
    if group['policy'] == 'anti-affinity':
        allowed = int((group.get('rules') or {}).get('max_server_per_host', 1))
        violated = sum(host in hosts for hosts in others) >= allowed
    else:
        together = not others or any(host in hosts for hosts in others)
        violated = group['policy'] == 'affinity' and not together
    if violated:
        raise exception.GroupPolicyViolated(policy=group['policy'], group=group['uuid'], host=host)
