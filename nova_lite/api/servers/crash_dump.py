"""The action trigger_crash_dump (2.17)."""

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import moves
from nova_lite.states import transitions

ACTION = transitions.TRIGGER_CRASH_DUMP.verb


@operation.server_action(
    ACTION,
    since='2.17',
    policy=rules.TRIGGER_CRASH_DUMP,
    guard=transitions.TRIGGER_CRASH_DUMP,
    body={'2.17': schema_parts.NOTHING},
    success=202,
    faults=(400, 403, 404, 409),
)
def trigger(req: request.Request, server: server_access.Server) -> None:
    """Send the guest a non-maskable interrupt."""
    moves.begin(req, server, kind='crash-dump', guard=transitions.TRIGGER_CRASH_DUMP, action=ACTION)
