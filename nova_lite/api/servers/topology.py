"""GET /servers/{server_id}/topology (2.78): the NUMA nodes that a guest sees.

Each node of the guest is on one node of the host, in their order. No CPU of a host belongs to one
guest alone.
"""

from oslo_utils import strutils

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.db.cell import compute_nodes
from nova_lite.objects import guest_numa

# Page sizes in KiB. With `any` the host chooses small pages.
PAGES_KB = {'small': 4, 'any': 4, 'large': 2048}


@operation.operation(
    'GET',
    '/servers/{server_id}/topology',
    since='2.78',
    policy=rules.TOPOLOGY,
    faults=(403, 404),
)
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show the NUMA nodes of the guest; to administrators also their nodes on the host."""
    row = server.row
    requested = guest_numa.Requested(row.flavor.get('extra_specs'), row.image_properties)
    nodes = [
        {'vcpu_set': list(node.cpus), 'siblings': [], 'memory_mb': node.memory_mb}
        for node in requested.nodes(row.vcpus, row.memory_mb)
    ]
    if nodes and req.allows(rules.TOPOLOGY_HOST, server.target):
        count = _host_nodes(server)
        for index, node in enumerate(nodes):
            node |= {'host_node': index % count, 'cpu_pinning': {}}
    return {'nodes': nodes, 'pagesize_kb': _page_size_kb(requested.of('mem_page_size'))}


def _host_nodes(server: server_access.Server) -> int:
    """Return the number of NUMA nodes of the host, None if it is unknown."""
    row, found = server.row, None
    if row.host:
        found = server.cell.db.read(
            compute_nodes.every, host=row.host, hypervisor_hostname=row.node
        )
    if not found:
        return 1
    # A driver may report none, or 0.
    return found[0].cpu_info.get('topology', {}).get('cells') or 1


def _page_size_kb(size: str | None) -> int | None:
    """Return the requested size of the guest's memory pages in KiB, or None."""
    if size is None:
        return None
    if size in PAGES_KB:
        return PAGES_KB[size]
    if size.isdecimal():
        return int(size)
    try:
        return strutils.string_to_bytes(size, return_int=True) // 1024
    except ValueError:
        return None
