"""Events about the power of guests (2.76): the host starts or stops them, as for the actions.

Source: reference/nova/api-surface 2.5.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import power
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

NAME = 'power-update'
# {tag of an event: (transition, method of the host)}
TARGETS = {
    'POWER_ON': (transitions.START, 'start_instance'),
    'POWER_OFF': (transitions.STOP, 'stop_instance'),
}


def follow(req: request.Request, server: server_access.Server, target: str | None) -> None:
    """Start or stop a server, with a record of the action, if its state permits that.

    target: the tag of the event. An unknown tag, or a server in another state, has no effect.
    """
    if target not in TARGETS:
        LOG.warning('Event %s of server %s has the unknown tag %s', NAME, server.uuid, target)
        return
    try:
        power.carry_out(req, server, *TARGETS[target])
    except exception.NovaLiteError as error:
        LOG.warning('Server %s does not follow event %s %s: %s', server.uuid, NAME, target, error)
