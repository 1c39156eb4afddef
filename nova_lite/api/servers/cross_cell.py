"""Check whether a resize or a cold migration may leave the server's cell.

If a condition does not hold, the move stays within the cell, without an error.
Source: reference/nova/cross-cell-resize 2.
"""

from oslo_log import log

from nova_lite import cells
from nova_lite import exception
from nova_lite import versions
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import cold_moves as rules
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

KINDS = {
    'resize': 'cross-cell-resize',
    'migrate': 'cross-cell-migrate',
    'confirm-resize': 'cross-cell-confirm',
    'revert-resize': 'cross-cell-revert',
}


def is_allowed(req: request.Request, server: server_access.Server) -> bool:
    """Return whether the caller, every compute service and the server's ports allow the move."""
    every = req.app.cells.every(cell0=False)
    if len(every) < 2 or not req.allows(rules.CROSS_CELL, server.target):
        return False
    found = req.app.cells.scatter(services.minimum_version, cells=every)
    for cell, version in found.items():
        if isinstance(version, cells.Unreachable):
            LOG.info('Server %s stays in its cell: cell %s does not answer', server.uuid, cell.name)
            return False
        if version is not None and version < versions.CROSS_CELL_RESIZE:
            LOG.info(
                'Server %s stays in its cell: a compute of cell %s is too old to change cells',
                server.uuid,
                cell.name,
            )
            return False
    # The network service is not asked about a server whose record has no ports.
    if server.row.network_info and req.app.network.has_resource_request(req.ctxt, server.uuid):
        LOG.info('Server %s stays in its cell: one of its ports requests resources', server.uuid)
        return False
    return True


def kind(name: str, crosses: bool) -> str:
    """Return the kind of saga: `name` within a cell, or its counterpart that may change cells."""
    return KINDS[name] if crosses else name


def destination(req: request.Request, host: str) -> dict[str, str]:
    """Return {'host', 'node'} of a host of any cell. Raise ComputeHostNotFound."""
    found = req.app.api_db.read(host_mappings.cell_ids, [host])
    if host not in found:
        raise exception.ComputeHostNotFound(host=host)
    node = req.app.cells.by_id(found[host]).db.read(compute_nodes.first_of_host, host)
    return {'host': node.host, 'node': node.hypervisor_hostname}
