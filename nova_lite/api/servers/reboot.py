"""The action reboot: the guest carries out a soft reboot, its host a hard reboot."""

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import left_guest
from nova_lite.api.servers import lost_attachments
from nova_lite.api.servers import moves
from nova_lite.states import transitions

TYPES = ('HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft')
BODY = schema_parts.whole({'type': {'enum': list(TYPES)}}, required=['type'])


def _guard(req: request.Request) -> transitions.Transition:
    hard = req.content['type'].upper() == 'HARD'
    return transitions.REBOOT_HARD if hard else transitions.REBOOT_SOFT


@operation.server_action(
    'reboot',
    policy=rules.REBOOT,
    guard=_guard,
    body={'2.1': BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def reboot(req: request.Request, server: server_access.Server) -> None:
    """Reboot the guest of a server."""
    if _guard(req) is transitions.REBOOT_HARD:
        moves.await_end(req, server)
        left_guest.remove(req, server)
    if server.is_in_cell:
        lost_attachments.settle(req, server)
    instance = acting.begin(req, server, 'reboot', _guard(req))
    acting.send(
        req,
        server,
        'reboot_instance',
        instance=instance,
        reboot_type=req.content['type'].upper(),
    )
