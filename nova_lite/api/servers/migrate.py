"""migrate: move a server to another host while it is off (reference/nova/moves 2.2).

From 2.56 the request may name a host, which the scheduler checks. Before 2.56 the body is
ignored.
"""

import os_traits

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import cold_moves as rules
from nova_lite.api.servers import cross_cell
from nova_lite.api.servers import destination
from nova_lite.api.servers import moves
from nova_lite.api.servers import source_host
from nova_lite.db.cell import compute_nodes
from nova_lite.states import transitions

ACTION = 'migrate'
BODY = {
    '2.1': schema_parts.ANY,
    '2.56': schema_parts.null_or(
        schema_parts.whole({'host': schema_parts.null_or(schema_parts.HOST)})
    ),
}
NAMES_HOST = 56


def host_of(req: request.Request) -> str | None:
    """Return the host that the request names, or None."""
    if req.minor < NAMES_HOST or req.content is None:
        return None
    host: str | None = req.content.get('host')
    return host


def rule(req: request.Request) -> str:
    """Return the rule of the policy, which differs if the request names a host."""
    return rules.MIGRATE_HOST if host_of(req) else rules.MIGRATE


@operation.server_action(
    ACTION,
    policy=rule,
    guard=transitions.MIGRATE,
    body=BODY,
    success=202,
    faults=(400, 403, 404, 409),
)
def migrate(req: request.Request, server: server_access.Server) -> None:
    """Begin a cold migration."""
    source_host.require_up(req, server)
    row, host = server.row, host_of(req)
    crosses = cross_cell.is_allowed(req, server)
    wanted = {}
    if host:
        anywhere = crosses and cross_cell.destination(req, host)
        wanted = anywhere or destination.in_cell(server, host)
        if wanted['host'] == row.host:
            raise exception.CannotMigrateToSameHost()
    moves.begin(
        req,
        server,
        kind=cross_cell.kind('migrate', crosses),
        guard=transitions.MIGRATE,
        action='migrate',
        changes={'progress': 0},
        arguments={
            'flavor': row.flavor,
            'ignore_hosts': [] if host or _may_stay(req, server) else [row.host],
            **wanted,
        },
    )


def _may_stay(req: request.Request, server: server_access.Server) -> bool:
    """Return whether the host of the server reports that it can be its own destination."""
    row = server.row
    nodes = server.cell.db.read(compute_nodes.every, host=row.host, hypervisor_hostname=row.node)
    if not nodes:
        return False
    try:
        traits, _generation = req.app.placement.providers.traits(req.ctxt, nodes[0].uuid)
    except exception.ResourceProviderNotFound:
        return False
    return os_traits.COMPUTE_SAME_HOST_COLD_MIGRATE in traits
