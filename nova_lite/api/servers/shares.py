"""GET /servers/{server_id}/shares: the shares of a server.

Source: reference/nova/api-surface 2.3.
"""

import dataclasses

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_shares as rules
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import shares

PATH = '/servers/{server_id}/shares'
ONE = PATH + '/{share_id}'
SINCE = '2.97'
QUERY = {'2.1': schema_parts.query({}, strict=True)}


@operation.operation(
    'GET', PATH, policy=rules.LIST, query=QUERY, since=SINCE, faults=(400, 403, 404)
)
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the shares of a server."""
    found = {} if not server.is_in_cell else server.cell.db.read(shares.of, [server.uuid])
    return {'shares': [brief(row) for row in found.get(server.uuid, ())]}


@operation.operation(
    'GET', ONE, policy=rules.SHOW, query=QUERY, since=SINCE, faults=(400, 403, 404)
)
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show one share of a server."""
    share_id = req.args['share_id']
    if not server.is_in_cell:
        raise exception.ShareNotAttached(instance_id=server.uuid, share_id=share_id)
    return {'share': detail(req, server, server.cell.db.read(shares.get, server.uuid, share_id))}


@dataclasses.dataclass(frozen=True)
class Attaching:
    """A share that is being attached, in the format of its record."""

    uuid: str
    share_id: str
    tag: str
    export_location: str
    status: str = 'attaching'


def brief(row: rows.Row | Attaching) -> session.Json:
    """Return a share with the fields that lists show."""
    return {'share_id': row.share_id, 'status': row.status, 'tag': row.tag}


def detail(
    req: request.Request, server: server_access.Server, row: rows.Row | Attaching
) -> session.Json:
    """Return a share with all its fields. Only administrators see its export location."""
    shown = brief(row)
    if req.allows(rules.SHOW_LOCATION, server.target):
        shown.update(uuid=row.uuid, export_location=row.export_location)
    return shown
