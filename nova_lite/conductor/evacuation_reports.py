"""Transactions of a cell: evacuations from hosts that return.

Source: reference/nova/moves 5.
"""

from collections.abc import Iterable
import datetime

import sqlalchemy as sa

from nova_lite import context
from nova_lite import states
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import migrations
from nova_lite.rpc.methods import conductor as methods

Status = states.MigrationStatus


def left_on(connection: sa.Connection, hosts: Iterable[str]) -> list[methods.Evacuation]:
    """Return evacuations from hosts that have not removed the guests yet."""
    found = evacuations.not_cleaned(connection, hosts)
    nodes = {
        (node.host, node.hypervisor_hostname): node.uuid
        for node in compute_nodes.every(connection, host=list(hosts))
    }
    return [
        {
            'migration_uuid': row.uuid,
            'instance_uuid': row.instance_uuid,
            'host': row.source_compute,
            'node': row.source_node,
            'provider': nodes.get((row.source_compute, row.source_node)),
            'began': row.created_at.replace(tzinfo=datetime.UTC).timestamp(),
            'done': row.status == Status.DONE,
        }
        for row in found
    ]


def cleaned(
    connection: sa.Connection, ctxt: context.RequestContext, host: str, migration_uuid: str
) -> None:
    """Record that the host has removed the guest of an evacuated server."""
    row = migrations.get(connection, migration_uuid)
    if row.status == Status.DONE and row.source_compute == host:
        migrations.update(connection, migration_uuid, {'status': str(Status.COMPLETED)})
