"""Compute nodes of a cell: capacity of each hypervisor."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.ComputeNode.__table__


def report(connection, nodes):
    """Add or update the nodes (dicts of columns, by uuid), all of a process at once."""
    uuids = [node['uuid'] for node in nodes]
    known = set(connection.scalars(sa.select(TABLE.c.uuid).where(TABLE.c.uuid.in_(uuids))))
    rows.insert(connection, TABLE, [node for node in nodes if node['uuid'] not in known])
    for node in nodes:
        if node['uuid'] in known:
            connection.execute(TABLE.update().where(TABLE.c.uuid == node['uuid']).values(**node))


def every(connection, **where):
    """Nodes whose columns equal `where`."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def hosts(connection):
    """The hosts of all nodes."""
    return set(connection.scalars(sa.select(TABLE.c.host)))


def get(connection, uuid):
    """One node by uuid; raises ComputeNodeNotFound."""
    return rows.get(connection, TABLE, exception.ComputeNodeNotFound(node=uuid), uuid=uuid)


def first_of_host(connection, host):
    """The first node of a host; raises ComputeHostNotFound."""
    found = rows.every(connection, TABLE, host=host, order_by=TABLE.c.id)
    if not found:
        raise exception.ComputeHostNotFound(host=host)
    return found[0]


def unmapped(connection):
    """Nodes whose host no one has looked at since it appeared."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, mapped=False)


def set_mapped(connection, hosts, mapped=True):
    """Say that the hosts are in the host mappings (or no longer)."""
    connection.execute(TABLE.update().where(TABLE.c.host.in_(list(hosts))).values(mapped=mapped))


def count_build(connection, host, failed):
    """Count a failed build of a host, or clear the count after one that worked."""
    value = TABLE.c.failed_builds + 1 if failed else 0
    condition = [TABLE.c.host == host]
    if not failed:
        condition.append(TABLE.c.failed_builds > 0)
    connection.execute(
        TABLE.update().where(*condition).values(failed_builds=value, updated_at=runtime.naive_now())
    )


def destroy(connection, uuid):
    """Remove a node."""
    rows.delete(connection, TABLE, uuid=uuid)
