"""GET /servers/{server_id}/topology (2.78): the NUMA nodes that a guest sees, and its pinned CPUs.

The host chooses its nodes, CPUs and pages for a guest and reports them with its node's record.
"""

import typing

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.api.servers import create_flavor
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import memory
from nova_lite.virt import topology

Shown: typing.TypeAlias = list[dict[str, typing.Any]]


@operation.operation(
    'GET',
    '/servers/{server_id}/topology',
    since='2.78',
    policy=rules.TOPOLOGY,
    faults=(403, 404),
)
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show the guest's NUMA nodes; for administrators also where on the host they are."""
    guest = _guest(server.row)
    if not guest.nodes:
        return {'nodes': [], 'pagesize_kb': None}
    held = _held(server, guest)
    nodes: Shown = [
        {'vcpu_set': list(node.cpus), 'siblings': [], 'memory_mb': node.memory_mb}
        for node in guest.nodes
    ]
    if held is not None:
        for node, cell in zip(nodes, held.cells, strict=True):
            node['siblings'] = cell.siblings
    if req.allows(rules.TOPOLOGY_HOST, server.target):
        for index, node in enumerate(nodes):
            node |= {'host_node': index, 'cpu_pinning': {}}
            if held is not None:
                cell = held.cells[index]
                pinning = {str(cpu): on_host for cpu, on_host in cell.pins}
                node |= {'host_node': cell.node, 'cpu_pinning': pinning}
    return {'nodes': nodes, 'pagesize_kb': _page_size_kb(guest, held)}


def _guest(row: rows.Row) -> constraints.Constraints:
    """Return the constraints of a server; none if it was made before such servers were refused."""
    flavor = {**row.flavor, 'vcpus': row.vcpus, 'memory_mb': row.memory_mb}
    try:
        return create_flavor.constraints_of(flavor, {'properties': row.image_properties})
    except exception.Invalid:
        return constraints.NONE


def _held(server: server_access.Server, guest: constraints.Constraints) -> topology.Held | None:
    """Return the parts of its host that the server's guest holds, as far as that is known."""
    row = server.row
    if not row.host:
        return None
    node = server.cell.db.read(compute_nodes.find, row.host, row.node)
    if node is None or not node.numa:
        return None
    parts = [topology.Held.from_dict(held) for held in node.numa['guests'].get(row.uuid, ())]
    return next((held for held in parts if held.request == guest.request), None)


def _page_size_kb(guest: constraints.Constraints, held: topology.Held | None) -> int | None:
    """Return the KiB of the guest's pages; of a size that the host chooses, once it did so."""
    if held is not None:
        return held.cells[0].page_kb
    if guest.page_size == memory.SMALL:
        return topology.SMALL_KB
    return guest.page_size if isinstance(guest.page_size, int) else None
