"""Compute nodes of a cell: capacity of each hypervisor."""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE = models.ComputeNode.__table__
_HOSTS = sa.select(TABLE.c.host)
_NAMES = sa.select(TABLE.c.uuid, TABLE.c.host, TABLE.c.hypervisor_hostname)
_ONE_MORE = {'failed_builds': TABLE.c.failed_builds + 1}
_HAS_FAILED = TABLE.c.failed_builds > 0
# Facts that many nodes have in common, as JSON.
ALIKE = ('cpu_info', 'supported_instances', 'stats', 'metrics')
_WITH_TEXTS = sa.select(
    *(each for each in TABLE.c if each.name not in (*ALIKE, 'id', 'created_at', 'updated_at')),
    *(sa.type_coerce(TABLE.c[name], sa.Text()).label(name) for name in ALIKE),
).order_by(TABLE.c.id)
_KNOWN = sa.select(TABLE.c.uuid).where(TABLE.c.uuid.in_(sa.bindparam('uuids')))


def report(connection: sa.Connection, nodes: Sequence[rows.Values]) -> None:
    """Add or update all nodes of a process. nodes: dicts of columns with the uuid"""
    uuids = [node['uuid'] for node in nodes]
    known = set(connection.scalars(_KNOWN, {'uuids': uuids}))
    rows.insert(connection, TABLE, [node for node in nodes if node['uuid'] not in known])
    for node in nodes:
        if node['uuid'] in known:
            rows.change(connection, TABLE, node, uuid=node['uuid'])


def every(connection: sa.Connection, /, **where: typing.Any) -> Sequence[rows.Row]:
    """Return nodes whose columns equal `where`."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def with_texts(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return all nodes with the columns of ALIKE as JSON texts, of which most are equal."""
    return execute.every(connection, _WITH_TEXTS)


def hosts(connection: sa.Connection) -> set[str]:
    """Return the hosts of all nodes."""
    return set(connection.scalars(_HOSTS))


def names(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return the uuid, the host and the hypervisor_hostname of each node."""
    return execute.every(connection, _NAMES)


def find(connection: sa.Connection, host: str, name: str | None) -> rows.Row | None:
    """Return the node of a host that has this name, or None."""
    return rows.find(connection, TABLE, host=host, hypervisor_hostname=name)


def first_of_host(connection: sa.Connection, host: str) -> rows.Row:
    """Return the first node of a host. Raise ComputeHostNotFound."""
    found = rows.every(connection, TABLE, host=host, order_by=TABLE.c.id)
    if not found:
        raise exception.ComputeHostNotFound(host=host)
    return found[0]


def unmapped(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return nodes of hosts that discovery has not mapped yet."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, mapped=False)


def set_mapped(connection: sa.Connection, hosts: Iterable[str], mapped: bool = True) -> None:
    """Record whether the hosts are in the host mappings."""
    rows.change(connection, TABLE, {'mapped': mapped}, host=list(hosts))


def count_build(connection: sa.Connection, host: str, failed: bool) -> None:
    """Count a failed build of a host, or reset the count after a successful build."""
    if failed:
        rows.change(connection, TABLE, {}, computed=_ONE_MORE, host=host)
    else:
        rows.change(connection, TABLE, {'failed_builds': 0}, _HAS_FAILED, host=host)


def destroy(connection: sa.Connection, uuid: str) -> None:
    """Remove a node."""
    rows.delete(connection, TABLE, uuid=uuid)
