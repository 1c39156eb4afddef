"""Host discovery: create mappings for new hosts of the cells.

Servers are scheduled only to mapped hosts, and only these are listed.
Source: reference/nova/cells-and-rpc 3.
"""

from collections.abc import Collection
from collections.abc import Sequence

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite.db.api import host_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)


def discover_hosts(
    cells: deployment.Cells,
    *,
    only: Sequence[deployment.Cell] | None = None,
    by_service: bool = False,
) -> dict[deployment.Cell, list[str]]:
    """Map the hosts that are in no mapping yet, of all cells or of the cells in `only`.

    cells: Cells; only: [Cell, ...]
    by_service: also map hosts that have reported a compute service but no node yet
    Returns {cell: [host, ...]} of the new mappings, in the order in which the hosts appeared.
    Raises oslo.db's DBDuplicateEntry if another run has just mapped one of the hosts.
    """
    searched = cells.every(cell0=False) if only is None else only
    found = {}
    for cell in searched:
        # The hosts of a cell that was deleted and added again may still be marked as mapped.
        every = not cells.api_db.read(host_mappings.has_any, cell.id)
        hosts = cell.db.read(_unmapped, every, by_service)
        found[cell] = cells.api_db.write(_map, cell.id, hosts) if hosts else []
        if hosts:
            cell.db.write(compute_nodes.set_mapped, hosts)
        for host in found[cell]:
            LOG.info('Host %s is mapped to cell %s', host, cell.name)
    return found


def _unmapped(connection: sa.Connection, every: bool, by_service: bool) -> list[str]:
    nodes = compute_nodes.every(connection) if every else compute_nodes.unmapped(connection)
    hosts = [node.host for node in nodes]
    if by_service:
        hosts += [row.host for row in services.every(connection, binary=services.COMPUTE)]
    return list(dict.fromkeys(hosts))


def _map(connection: sa.Connection, cell_id: int, hosts: Collection[str]) -> list[str]:
    new = host_mappings.create_missing(connection, cell_id, hosts)
    if new:
        stamps.bump(connection, stamps.HOSTS)
    return new
