"""Evacuations of a cell whose former hosts have not cleaned up."""

from collections.abc import Iterable
from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.dialects import execute

TABLE = models.Migration.__table__
Status = states.MigrationStatus
NOT_CLEANED = [str(status) for status in (Status.ACCEPTED, Status.PRE_MIGRATING, Status.DONE)]
# A query by the hosts of services, whose number is bounded, does not scan all migrations.
_SOURCES = sa.select(TABLE.c.source_compute).where(
    TABLE.c.migration_type == str(states.MigrationType.EVACUATION),
    TABLE.c.source_compute.in_(sa.select(services.TABLE.c.host)),
    TABLE.c.status.in_(NOT_CLEANED),
)


def sources(connection: sa.Connection) -> set[str]:
    """Return all hosts of the cell that have not cleaned up after an evacuation."""
    return set(execute.values(connection, _SOURCES))


def not_cleaned(connection: sa.Connection, hosts: Iterable[str]) -> Sequence[rows.Row]:
    """Return evacuations from the hosts that are in progress or not cleaned up."""
    return rows.every(
        connection,
        TABLE,
        order_by=TABLE.c.id,
        migration_type=str(states.MigrationType.EVACUATION),
        source_compute=list(hosts),
        status=NOT_CLEANED,
    )


def providers_held(connection: sa.Connection, uuid: str) -> set[str]:
    """Return nodes (uuids) on which a server keeps its allocations until they have cleaned up."""
    found = rows.every(
        connection,
        TABLE,
        migration_type=str(states.MigrationType.EVACUATION),
        instance_uuid=uuid,
        status=str(Status.DONE),
    )
    return {
        node.uuid
        for row in found
        for node in compute_nodes.every(
            connection, host=row.source_compute, hypervisor_hostname=row.source_node
        )
    }
