"""Actions with one step on the host: start, stop, pause, unpause, suspend, resume.

The actions differ only in names and states, which are in transitions.TRANSITIONS.
"""

from collections.abc import Callable

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import left_guest
from nova_lite.states import transitions

FAULTS = (400, 403, 404, 409)


def _declare(
    action: str,
    guard: transitions.Transition,
    *,
    policy: str,
    method: str,
    precheck: Callable[[request.Request, server_access.Server], None] | None = None,
) -> operation.Handler:
    @operation.server_action(
        action,
        policy=policy,
        guard=guard,
        precheck=precheck,
        success=202,
        faults=FAULTS,
    )
    def act(req: request.Request, server: server_access.Server) -> None:
        carry_out(req, server, guard, method)

    return act


def carry_out(
    req: request.Request,
    server: server_access.Server,
    guard: transitions.Transition,
    method: str,
    *,
    event: str | None = None,
    **arguments: str,
) -> None:
    """Begin an action, and send it to the host. Raise MayRunElsewhere, or as `acting.begin`.

    event: see `acting.begin`; arguments: further ones of the method
    """
    if guard is transitions.START:
        left_guest.remove(req, server)
    instance = acting.begin(req, server, guard.verb, guard, event)
    acting.send(req, server, method, instance=instance, **arguments)


start = _declare('os-start', transitions.START, policy=rules.START, method='start_instance')
stop = _declare('os-stop', transitions.STOP, policy=rules.STOP, method='stop_instance')
pause = _declare('pause', transitions.PAUSE, policy=server_actions.PAUSE, method='pause_instance')
unpause = _declare(
    'unpause', transitions.UNPAUSE, policy=server_actions.UNPAUSE, method='unpause_instance'
)
suspend = _declare(
    'suspend',
    transitions.SUSPEND,
    policy=server_actions.SUSPEND,
    method='suspend_instance',
    precheck=lambda req, server: acting.require_plain_memory(server, 'suspend'),
)
resume = _declare(
    'resume', transitions.RESUME, policy=server_actions.RESUME, method='resume_instance'
)
