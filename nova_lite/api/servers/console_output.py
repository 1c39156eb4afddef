"""The action os-getConsoleOutput."""

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting

LENGTH = {**schema_parts.OR_MINUS_ONE, 'type': ['integer', 'string', 'null']}
BODY = schema_parts.whole({'length': LENGTH})


@operation.server_action(
    'os-getConsoleOutput',
    policy=rules.CONSOLE_OUTPUT,
    body={'2.1': BODY},
    success=200,
    faults=(400, 403, 404, 409, 501),
)
def get(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show the last lines of the serial console; without a length or with -1, all lines."""
    acting.require_host(server)
    length = req.content.get('length')
    lines = None if length is None else int(length)
    req.app.waiters.enter(req)
    output = req.app.compute(server.cell).get_console_output(
        req.ctxt,
        host=server.row.host,
        instance_uuid=server.uuid,
        tail_length=None if lines is None or lines < 0 else lines,
    )
    return {'output': output or ''}
