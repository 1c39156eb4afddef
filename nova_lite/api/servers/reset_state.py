"""The action os-resetState: an administrator sets the state of a server."""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import confirm_revert
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import reset_builds
from nova_lite.lifecycle import counting

# In the list of actions, without events, as in nova.
ACTION = 'resetState'
BODY = schema_parts.whole({'state': {'enum': ['active', 'error']}}, required=['state'])


@operation.server_action(
    'os-resetState',
    policy=rules.RESET_STATE,
    body={'2.1': BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def reset_state(req: request.Request, server: server_access.Server) -> None:
    """Set the vm state and clear the task. A server that was softly deleted counts again.

    A deletion that was accepted continues, and keeps its task. A resize that waits for its
    confirmation is confirmed.
    """
    acting.require_cell(server)
    state = req.content['state']
    stays = acting.in_its_cell(
        req, server, lambda: server.cell.db.write(_reset, req.ctxt, server.uuid, state)
    )
    if stays and server.row.deleted_at is not None:
        counting.follow(req.app.api_db, server.uuid, counts=True)
    confirm_revert.confirm_reset(req, server)


def _reset(connection: sa.Connection, ctxt: context.RequestContext, uuid: str, state: str) -> bool:
    """Set the states of a server. Return whether the server stays."""
    row = instances.lock(connection, uuid)
    # The host must not clear away a failed build whose state an administrator has set.
    build = reset_builds.arguments(row)
    changes = {'vm_state': state, 'task_state': None, 'build': build, 'deleted_at': None}
    stays = not instances.is_gone(row)
    if not stays:
        # The deletion continues: the owner's request was accepted.
        del changes['task_state']
    instances.force(connection, uuid, changes)
    actions.start(connection, ctxt, uuid, ACTION)
    actions.end_open(connection, uuid, ctxt.request_id)
    return stays
