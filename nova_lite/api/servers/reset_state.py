"""The action os-resetState: an administrator sets the state of a server."""

from nova_lite import transitions
from nova_lite.api import operation
from nova_lite.api import schema_parts
from nova_lite.api.servers import acting
from nova_lite.db.api import instance_mappings
from nova_lite.policies import server_actions as rules

# In the list of actions, without events, as in nova.
ACTION = 'resetState'
ANY_STATE = transitions.Transition('reset state', None, None, launched=False)
BODY = schema_parts.body(
    'os-resetState',
    schema_parts.whole({'state': {'enum': ['active', 'error']}}, required=['state']),
)


@operation.operation(
    'POST',
    '/servers/{server_id}/action',
    action='os-resetState',
    policy=rules.RESET_STATE,
    body={'2.1': BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def reset_state(req, server):
    """Set the vm state and clear the task. A server that was softly deleted counts again."""
    # The host must not clear away a build whose state an administrator has set.
    changes = {'vm_state': req.content['state'], 'task_state': None, 'build': None}
    acting.swap(req, server, ANY_STATE, {**changes, 'deleted_at': None}, action=ACTION, forced=True)
    if server.row.deleted_at is not None:
        # If this process is killed before that, a sweep of the super-conductor does it.
        req.app.api_db.write(instance_mappings.set_queued_for_delete, server.uuid, False)
