"""Usage of the hosts of a cell for the scheduler, computed by queries."""

import collections
from collections.abc import Collection
from collections.abc import Iterable
import math
import typing

import sqlalchemy as sa

from nova_lite import states
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from nova_lite.dialects import execute

# A server's uuid, host, node and flavor, as a move in progress holds them.
Moving: typing.TypeAlias = tuple[str, str, str, dict[str, typing.Any]]

INSTANCES = models.Instance.__table__
MIGRATIONS = models.Migration.__table__
# An accepted migration may name a requested destination that the scheduler has not chosen yet.
HOLDS_NOTHING = (*migrations.OVER, str(states.MigrationStatus.ACCEPTED))
_MOVING = (
    sa.select(
        MIGRATIONS.c.source_compute,
        MIGRATIONS.c.source_node,
        MIGRATIONS.c.dest_compute,
        MIGRATIONS.c.dest_node,
        MIGRATIONS.c.cross_cell_move,
        INSTANCES.c.uuid,
        INSTANCES.c.host,
        INSTANCES.c.flavor,
        INSTANCES.c.old_flavor,
        INSTANCES.c.new_flavor,
    )
    .join(INSTANCES, INSTANCES.c.uuid == MIGRATIONS.c.instance_uuid)
    .where(MIGRATIONS.c.status.not_in(HOLDS_NOTHING), INSTANCES.c.deleted.is_(False))
)
_AMONG = INSTANCES.c.uuid.in_(sa.bindparam('uuids'))
_HOSTS = sa.select(INSTANCES.c.uuid, INSTANCES.c.host).where(_AMONG, INSTANCES.c.deleted.is_(False))
_OVER = sa.select(INSTANCES.c.uuid).where(
    _AMONG,
    sa.or_(
        INSTANCES.c.deleted.is_(True),
        sa.and_(INSTANCES.c.task_state.is_(None), INSTANCES.c.hidden.is_(False)),
    ),
)
_DELETIONS = (
    sa.select(INSTANCES.c.host, sa.func.count())
    .where(
        INSTANCES.c.task_state == str(states.TaskState.DELETING),
        INSTANCES.c.deleted.is_(False),
        INSTANCES.c.host.is_not(None),
    )
    .group_by(INSTANCES.c.host)
)
_USAGE = (
    sa.select(
        INSTANCES.c.host,
        INSTANCES.c.node,
        sa.func.count(),
        sa.func.sum(INSTANCES.c.vcpus),
        sa.func.sum(INSTANCES.c.memory_mb),
        sa.func.sum(INSTANCES.c.root_gb + INSTANCES.c.ephemeral_gb),
    )
    .where(
        INSTANCES.c.deleted.is_(False),
        INSTANCES.c.host.is_not(None),
        INSTANCES.c.vm_state != 'shelved_offloaded',
    )
    .group_by(INSTANCES.c.host, INSTANCES.c.node)
)
_BUSY = (
    sa.select(INSTANCES.c.host, sa.func.count())
    .where(
        INSTANCES.c.deleted.is_(False),
        INSTANCES.c.host.is_not(None),
        INSTANCES.c.task_state.is_not(None),
    )
    .group_by(INSTANCES.c.host)
)
_COUNT_ON = (
    sa.select(sa.func.count())
    .select_from(INSTANCES)
    .where(INSTANCES.c.host.in_(sa.bindparam('hosts')), INSTANCES.c.deleted.is_(False))
)
_IMAGES = sa.select(INSTANCES.c.host, INSTANCES.c.node, INSTANCES.c.image_properties).where(
    INSTANCES.c.deleted.is_(False), INSTANCES.c.host.is_not(None)
)


def deletions(connection: sa.Connection) -> dict[str, int]:
    """Return {host: how many servers it has to delete}."""
    return {row[0]: row[1] for row in execute.every(connection, _DELETIONS)}


def busy_by_host(connection: sa.Connection) -> dict[str, int]:
    """Return {host: number of servers with a task}."""
    return {host: int(count) for host, count in execute.every(connection, _BUSY)}


def count_on(connection: sa.Connection, hosts: Iterable[str]) -> int:
    """Return the number of servers on the hosts together, including hidden copies."""
    return connection.execute(_COUNT_ON, {'hosts': execute.filled(hosts)}).scalar_one()


def by_node(
    connection: sa.Connection, moves: Iterable[Moving] | None = None
) -> dict[tuple[str, str], list[int]]:
    """Return {(host, node): (servers, vcpus, MiB, GiB)} of servers and of moves in progress.

    moves: result of `moving`, if the caller has it already
    """
    used = {key: list(amounts) for key, amounts in _of_servers(connection).items()}
    for _uuid, host, node, flavor in moving(connection) if moves is None else moves:
        disk_gb = flavor['root_gb'] + flavor['ephemeral_gb'] + math.ceil(flavor['swap'] / 1024)
        amounts = (1, flavor['vcpus'], flavor['memory_mb'], disk_gb)
        total = used.setdefault((host, node), [0, 0, 0, 0])
        total[:] = [a + b for a, b in zip(total, amounts, strict=True)]
    return used


def _of_servers(connection: sa.Connection) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Return {(host, node): (servers, vcpus, MiB, GiB)} of servers, including hidden copies."""
    return {
        (host, node): (int(count), int(vcpus), int(memory_mb), int(disk_gb))
        for host, node, count, vcpus, memory_mb, disk_gb in execute.every(connection, _USAGE)
    }


def moving(connection: sa.Connection) -> list[Moving]:
    """Return [(server uuid, host, node, flavor)] of resources that moves hold besides the servers.

    That is the other end of each move: the destination with the new flavor until the server is
    there, afterwards the source with the former flavor. flavor: JSON
    In a move between cells each cell has a record for its own end: only a copy without a host also
    holds its destination.
    """
    held = []
    for row in execute.every(connection, _MOVING):
        if row.cross_cell_move and row.host is not None:
            continue
        if row.host == row.dest_compute:
            end = (row.source_compute, row.source_node, row.old_flavor or row.flavor)
        else:
            end = (row.dest_compute, row.dest_node, row.new_flavor or row.flavor)
        if end[0] is not None:
            held.append((row.uuid, *end))
    return held


def hosts_of(connection: sa.Connection, uuids: Collection[str]) -> dict[str, str | None]:
    """Return {server uuid: host} of the existing servers; None for a server without a host."""
    if not uuids:
        return {}
    return dict(execute.every(connection, _HOSTS, {'uuids': execute.filled(uuids)}))


def over(connection: sa.Connection, uuids: Collection[str]) -> set[str]:
    """Return the servers of `uuids` that are deleted in this cell, or have no task in it."""
    if not uuids:
        return set()
    return set(execute.values(connection, _OVER, {'uuids': execute.filled(uuids)}))


def image_properties(
    connection: sa.Connection,
) -> dict[tuple[str, str], dict[tuple[str, str | None], int]]:
    """Return {(host, node): Counter of (property, value)} of the servers' image properties."""
    counted: collections.defaultdict[
        tuple[str, str], collections.Counter[tuple[str, str | None]]
    ] = collections.defaultdict(collections.Counter)
    for host, node, properties in execute.every(connection, _IMAGES):
        counted[host, node].update((properties or {}).items())
    return dict(counted)
