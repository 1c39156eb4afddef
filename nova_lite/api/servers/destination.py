"""The host that an operator names as the destination of a move within the cell.

`cross_cell` has destinations in other cells.
"""

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes


class InAnotherCell(exception.Invalid):
    msg = 'Host %(host)s is not in the cell of server %(instance_id)s.'


class UnknownHost(exception.NotFound):
    msg = 'Compute host %(host)s could not be found.'


def in_cell(server: server_access.Server, host: str) -> dict[str, str]:
    """Return {'host', 'node'} of a host of the server's cell. Raise ComputeHostNotFound."""
    node = server.cell.db.read(compute_nodes.first_of_host, host)
    return {'host': node.host, 'node': node.hypervisor_hostname}


def cell_id(req: request.Request, host: str) -> object:
    """Return the id of the cell of a host. Raise UnknownHost."""
    found = req.app.api_db.read(host_mappings.cell_ids, [host])
    if host not in found:
        raise UnknownHost(host=host)
    return found[host]


def anywhere(req: request.Request, server: server_access.Server, host: str) -> dict[str, str]:
    """Return {'host', 'node'} of a host. Raise UnknownHost, or InAnotherCell."""
    if cell_id(req, host) != server.cell.id:
        raise InAnotherCell(host=host, instance_id=server.uuid)
    return in_cell(server, host)
