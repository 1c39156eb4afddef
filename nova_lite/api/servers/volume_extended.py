"""Events about extended volumes (2.51): the action extend_volume of a server.

It has ended when it is recorded, since a simulated host has nothing to do: its volumes have no
contents. Source: reference/nova/api-surface 2.5.
"""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.db.cell import actions

NAME = 'volume-extended'
ACTION, EVENT = 'extend_volume', 'compute_extend_volume'


def follow(req: request.Request, server: server_access.Server) -> None:
    """Record the action on the host of a server."""
    server.cell.db.write(_record, req.ctxt, server.uuid, server.row.host)


def _record(connection: sa.Connection, ctxt: context.RequestContext, uuid: str, host: str) -> None:
    actions.start(connection, ctxt, uuid, ACTION)
    actions.record_event(connection, uuid, ctxt.request_id, EVENT, host=host)
