"""Security groups of a server, which belong to its ports in the network service.

The record of a server has the ids of the groups of each port, as of the last event about the port.
It also has the names of the groups, as of the last change by this API, which are shown if the
service does not answer.
Source: reference/nova/api-surface 2.3 and 2.4.
"""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import security_group_views
from nova_lite.api import server_access
from nova_lite.api.policies import security_groups as rules
from nova_lite.api.servers import acting
from nova_lite.clients import session
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info

FAULTS = (400, 403, 404, 409)
CONTENT = schema_parts.whole(
    {'name': {'type': 'string', 'minLength': 1}},
    required=['name'],
)


@operation.operation(
    'GET', '/servers/{server_id}/os-security-groups', policy=rules.LIST, faults=(403, 404)
)
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the security groups of the server, with their rules."""
    found = req.app.network.security_groups.of_server(req.ctxt, server.uuid)
    return {'security_groups': security_group_views.groups(req, found)}


@operation.server_action(
    'addSecurityGroup',
    policy=rules.ADD,
    body={'2.1': CONTENT},
    success=202,
    faults=FAULTS,
)
def add(req: request.Request, server: server_access.Server) -> None:
    """Add a security group to each port of the server."""
    _change(req, server, req.app.network.security_groups.add)


@operation.server_action(
    'removeSecurityGroup',
    policy=rules.REMOVE,
    body={'2.1': CONTENT},
    success=202,
    faults=FAULTS,
)
def remove(req: request.Request, server: server_access.Server) -> None:
    """Remove a security group from each port of the server."""
    _change(req, server, req.app.network.security_groups.remove)


def _change(
    req: request.Request,
    server: server_access.Server,
    change: Callable[[context.RequestContext, str, session.Json], object],
) -> None:
    if not req.content['name'].strip():
        raise exception.Invalid('Security group name cannot be empty')
    groups = req.app.network.security_groups
    group = groups.find(req.ctxt, req.content['name'])
    try:
        change(req.ctxt, server.uuid, group)
    except exception.NotFound:
        raise
    except exception.NovaLiteError:
        # The ports before the failed port have been changed.
        _record(req, server)
        raise
    _record(req, server)


def _record(req: request.Request, server: server_access.Server) -> None:
    """Record the groups of the server. Repeat this if another request has changed them."""
    recorded = None
    while (found := _now(req, server)) != recorded:
        recorded = found
        _write(req, server, *found)


def _write(
    req: request.Request,
    server: server_access.Server,
    names: Sequence[str],
    of_ports: Mapping[str, list[str]],
) -> None:
    acting.in_its_cell(
        req, server, lambda: server.cell.db.write(_store, server.uuid, names, of_ports)
    )


def _now(
    req: request.Request, server: server_access.Server
) -> tuple[list[str], dict[str, list[str]]]:
    found, of_ports = req.app.network.security_groups.on_ports(req.ctxt, server.uuid)
    return sorted({group['name'] for group in found}), of_ports


def _store(
    connection: sa.Connection, uuid: str, names: Sequence[str], of_ports: Mapping[str, list[str]]
) -> None:
    row = instances.lock(connection, uuid)
    network_info.store_groups(connection, row, names, of_ports)
