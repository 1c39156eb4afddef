"""Events about the power of guests (2.76): the host starts or stops them, as for the actions.

Source: reference/nova/api-surface 2.5.
"""

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import power
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

NAME = 'power-update'
# {tag of an event: its transition}
TARGETS = {'POWER_ON': transitions.START, 'POWER_OFF': transitions.STOP}


def follow(req: request.Request, server: server_access.Server, target: str | None) -> None:
    """Start or stop a server, with a record of the action, if its state permits that.

    target: the tag of the event. An unknown tag, or a server in another state, has no effect. If
        the server is already as the event says, an action that did nothing is recorded
    """
    guard = TARGETS.get(target or '')
    if guard is None:
        LOG.warning('Event %s of server %s has the unknown tag %s', NAME, server.uuid, target)
        return
    try:
        if server.is_in_cell and server.row.vm_state == guard.after and not server.row.task_state:
            server.cell.db.write(_record, req.ctxt, server.row, action=guard.verb)
        else:
            event = transitions.POWER_UPDATE
            power.carry_out(
                req, server, guard, 'power_update', event=event, target_power_state=str(target)
            )
    except exception.NovaLiteError as error:
        LOG.warning('Server %s does not follow event %s %s: %s', server.uuid, NAME, target, error)


def _record(
    connection: sa.Connection, ctxt: context.RequestContext, row: rows.Row, *, action: str
) -> None:
    """Record an action with an event of which nothing is notified, because nothing was done."""
    action_id = actions.start(connection, ctxt, row.uuid, action)
    now = runtime.naive_now()
    times = {'start_time': now, 'updated_at': now, 'finish_time': now}
    done = {'event': transitions.POWER_UPDATE, 'host': row.host, 'result': 'Success', **times}
    rows.insert(connection, actions.EVENTS, {'action_id': action_id, **done})
    rows.change(connection, actions.ACTIONS, {'finish_time': now}, id=action_id)
