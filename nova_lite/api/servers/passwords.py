"""Passwords of servers: set in the guest, or encrypted by the guest and kept for its user.

Source: reference/nova/api-surface 2.3 and 2.4.
"""

from nova_lite import exception
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import guests as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_schema
from nova_lite.api.servers import source_host
from nova_lite.db.cell import guest_passwords
from nova_lite.db.cell import instances
from nova_lite.states import nova_failures
from nova_lite.states import transitions

PATH = '/servers/{server_id}/os-server-password'
CHANGE = schema_parts.whole({'adminPass': create_schema.PASSWORD}, required=['adminPass'])


@operation.server_action(
    'changePassword',
    policy=rules.CHANGE_PASSWORD,
    guard=transitions.CHANGE_PASSWORD,
    body={'2.1': CHANGE},
    success=202,
    faults=(400, 403, 404, 409, 501),
)
def change(req: request.Request, server: server_access.Server) -> None:
    """Set the password of the administrator in the guest, if the hypervisor supports it."""
    acting.require_host(server)
    source_host.require_up(req, server)
    req.app.waiters.enter(req)
    req.app.compute(server.cell).check_set_admin_password(
        req.ctxt,
        host=server.row.host,
        instance_uuid=server.uuid,
        has_agent=acting.has_agent(server),
    )
    guard = transitions.CHANGE_PASSWORD
    instance = acting.begin(req, server, guard.verb, guard)
    acting.send(
        req, server, 'set_admin_password', instance=instance, password=req.content['adminPass']
    )
    if nova_failures.applies(req.conf.conductor.failures, server.row.metadata):
        _require_set(req, server)


def _require_set(req: request.Request, server: server_access.Server) -> None:
    """Wait until the host has set the password, as nova does. Raise PasswordSetFailed."""
    for _look in req.app.waiters.looks(req, req.conf.rpc_response_timeout):
        row = server.cell.db.read(instances.get, server.uuid)
        if row.task_state != states.TaskState.UPDATING_PASSWORD:
            break
    if row.vm_state == states.VmState.ERROR:
        raise exception.PasswordSetFailed(
            instance_id=server.uuid, reason='error setting admin password'
        )


@operation.operation('GET', PATH, policy=rules.SHOW_PASSWORD, faults=(403, 404))
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show the encrypted password of the guest, or an empty text."""
    return {'password': guest_passwords.of(server.row)}


@operation.operation(
    'DELETE', PATH, policy=rules.CLEAR_PASSWORD, success=204, faults=(403, 404, 409)
)
def clear(req: request.Request, server: server_access.Server) -> None:
    """Delete the stored encrypted password; the guest keeps its password."""
    acting.require_cell(server)
    acting.in_its_cell(
        req, server, lambda: server.cell.db.write(guest_passwords.forget, server.uuid)
    )
