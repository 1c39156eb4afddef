"""Actions of one step that a host carries out: start, stop, pause, suspend and back.

They differ in words and states only, which states.TRANSITIONS has.
"""

from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import types
from nova_lite.api.servers import acting
from nova_lite.policies import server_actions
from nova_lite.policies import servers as rules

PATH = '/servers/{server_id}/action'
FAULTS = (400, 403, 404, 409)


def _declare(action, policy, guard, method, record):
    @operation.operation(
        'POST',
        PATH,
        action=action,
        policy=policy,
        guard=guard,
        body={'2.1': types.body(action, types.ANY)},
        success=202,
        faults=FAULTS,
    )
    def act(req, server):
        instance = acting.begin(req, server, record, guard)
        acting.send(req, server, method, instance=instance)

    return act


start = _declare('os-start', rules.START, states.START, 'start_instance', 'start')
stop = _declare('os-stop', rules.STOP, states.STOP, 'stop_instance', 'stop')
pause = _declare('pause', server_actions.PAUSE, states.PAUSE, 'pause_instance', 'pause')
unpause = _declare('unpause', server_actions.UNPAUSE, states.UNPAUSE, 'unpause_instance', 'unpause')
suspend = _declare('suspend', server_actions.SUSPEND, states.SUSPEND, 'suspend_instance', 'suspend')
resume = _declare('resume', server_actions.RESUME, states.RESUME, 'resume_instance', 'resume')
