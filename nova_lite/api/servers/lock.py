"""The actions lock and unlock.

A locked server refuses its project's actions; administrators are not bound.
"""

from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import types
from nova_lite.api.servers import acting
from nova_lite.policies import server_actions as rules

PATH = '/servers/{server_id}/action'
ANY_STATE = states.Transition('lock', None, None, launched=False)
REASON = types.whole({'locked_reason': {'type': 'string', 'minLength': 1, 'maxLength': 255}})
ADMIN, OWNER = 'admin', 'owner'


@operation.operation(
    'POST',
    PATH,
    action='lock',
    policy=rules.LOCK,
    body={'2.1': types.body('lock', types.ANY), '2.73': types.body('lock', types.null_or(REASON))},
    success=202,
    faults=(400, 403, 404, 409),
)
def lock(req, server):
    """Lock; the owner cannot take over an administrator's lock."""
    owner = server.row.project_id == req.ctxt.project_id
    if owner and server.row.locked_by == ADMIN:
        return
    reason = None
    if req.minor >= 73 and req.content:
        reason = req.content.get('locked_reason')
    changes = {'locked': True, 'locked_by': OWNER if owner else ADMIN, 'locked_reason': reason}
    acting.swap(req, server, ANY_STATE, changes, action='lock')


@operation.operation(
    'POST',
    PATH,
    action='unlock',
    policy=rules.UNLOCK,
    body={'2.1': types.body('unlock', types.ANY)},
    success=202,
    faults=(400, 403, 404, 409),
)
def unlock(req, server):
    """Unlock; what an administrator locked needs a rule of its own."""
    if server.row.locked_by and server.row.locked_by != _who(req, server):
        req.authorize(rules.UNLOCK_OVERRIDE, server.target)
    changes = {'locked': False, 'locked_by': None, 'locked_reason': None}
    acting.swap(req, server, ANY_STATE, changes, action='unlock')


def _who(req, server):
    return OWNER if server.row.project_id == req.ctxt.project_id else ADMIN
