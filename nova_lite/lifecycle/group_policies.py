"""Server groups as their members' cells need them to check hard policies.

`db.cell.group_places` checks one cell. Source: decision 0011, reference/nova/create-server 2.3.
"""

from collections.abc import Collection

import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import server_groups
from nova_lite.db.cell import group_places
from nova_lite.lifecycle import world as worlds
from nova_lite.objects import instance_group


def find(api_db: transactions.Database, uuid: str | None) -> instance_group.Group | None:
    """Return {'uuid', 'policy', 'rules'} of a server group, or None if it was deleted."""
    if uuid is None:
        return None
    try:
        row = api_db.read(server_groups.get, uuid)
    except exception.ServerGroupNotFound:
        return None
    return {'uuid': row.uuid, 'policy': row.policy, 'rules': row.rules}


def check_other_cells(
    world: worlds.World,
    group: instance_group.Group | None,
    *,
    cell: deployment.Cell,
    host: str,
    own: Collection[str],
) -> None:
    """Raise GroupPolicyViolated if members of an affinity group are in other cells.

    Call it after the cell has recorded that the members `own` go to `host`: if two members get
    hosts in two cells at once, at least one call then finds the other member.
    own: uuids of members. Raises Unavailable if a cell that may have members does not answer.
    """
    if group is None or group['policy'] != 'affinity':
        return
    cells = world.api_db.read(_cells_of_others, group['uuid'], own)
    asked = [
        other
        for other in world.cells.every(cell0=False)
        if other != cell and (other.id in cells or None in cells)
    ]
    found = world.cells.scatter(
        group_places.of_group, group['uuid'], building=True, cells=asked
    ).items()
    for other, places in found:
        if not isinstance(places, dict):
            raise exception.Unavailable(
                service=f'Cell {other.name}', reason='it may have members of a server group'
            )
        group_places.require(group, host, places, own)


def _cells_of_others(
    connection: sa.Connection, group_uuid: str, own: Collection[str]
) -> set[int | None]:
    """Return the ids of the cells of a group's other members; None is for members in no cell."""
    try:
        row = server_groups.get(connection, group_uuid)
    except exception.ServerGroupNotFound:
        return set()
    members = server_groups.members(connection, [row.id]).get(row.id, ())
    others = [uuid for uuid in members if uuid not in own]
    return {mapping.cell_id for mapping in instance_mappings.of(connection, others)}
