"""Common parts of actions on a server: change the state, record the action, cast.

State and record are one transaction of the server's cell, a compare-and-swap;
a request that loses the race is answered with the state that the other request has set. If the cast
that follows is lost, the host finds the task state at its next start or audit.
"""

from collections.abc import Callable
from collections.abc import Iterable
import typing

from oslo_log import log
from oslo_utils import strutils
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import tpm
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects
from nova_lite.states import transitions

T = typing.TypeVar('T')

LOG = log.getLogger(__name__)

# A property of images whose guests have an agent.
AGENT = 'hw_qemu_guest_agent'
# The number of tries to begin an action on a server that a move changes at the same time.
MOVES_MET = 3
# Seconds for which a request waits until a server has changed cells.
SWITCH_S, LOOK_S = 2.0, 0.02


def begin(
    req: request.Request,
    server: server_access.Server,
    action: str,
    guard: transitions.Transition,
    event: str | None = None,
    **changes: typing.Any,
) -> instance_objects.Instance:
    """Begin an action whose transition is `guard`. Return the changed Instance.

    action: name in the record of actions; event: its event, if the host cannot know it
    changes: further columns, of system_metadata only the keys that are set
    Raises InstanceNotReady without a host, InstanceInvalidState on a lost race.
    """
    require_host(server)
    if guard.during is not None:
        changes = {'task_state': str(guard.during), **changes}
    swap(req, server, guard, changes, action=action, event=event)
    changes = _of_object(_with_other_keys(server.row, changes))
    return instance_objects.Instance.from_row(server.row, **changes)


def require_host(server: server_access.Server) -> None:
    """Raise InstanceNotReady for a server that is on no host."""
    require_cell(server)
    if not server.row.host:
        raise exception.InstanceNotReady(instance_id=server.uuid)


def require_no_tpm(server: server_access.Server, operation: str) -> None:
    """Raise Invalid if the server has a virtual TPM, which the operation would lose.

    Nova refuses such an operation before it looks at the lock and the state of the server.
    """
    if tpm.is_requested(_asked(server)):
        raise exception.Invalid(
            f"Operation '{operation}' not supported for vTPM-enabled instance ({server.uuid})."
        )


def require_plain_memory(server: server_access.Server, operation: str) -> None:
    """Raise Invalid if the memory of the server is encrypted, so that it cannot be copied.

    Nova refuses such an operation before it looks at the lock and the state of the server.
    """
    if any(_asked(server).truths('mem_encryption')):
        raise exception.Invalid(
            f"Operation '{operation}' not supported for mem encryption enabled instance "
            f'({server.uuid}).'
        )


def require_no_private_tpm(server: server_access.Server, operation: str) -> None:
    """Raise Invalid if the server has a virtual TPM whose secret only its user can read.

    A live migration of an administrator cannot take this secret along.
    """
    if tpm.secret_of(_asked(server)) == tpm.PRIVATE:
        require_no_tpm(server, operation)


def _asked(server: server_access.Server) -> asked.Asked:
    return asked.Asked.of(server.row.flavor, server.row.image_properties or {})


def has_agent(server: server_access.Server) -> bool:
    """Return whether the guest has the agent that sets passwords and freezes its disks."""
    return strutils.bool_from_string((server.row.image_properties or {}).get(AGENT))


def require_cell(server: server_access.Server) -> None:
    """Raise InstanceNotReady for a server that is still a build request."""
    if not server.is_in_cell:
        raise exception.InstanceNotReady(instance_id=server.uuid)


def swap(
    req: request.Request,
    server: server_access.Server,
    guard: transitions.Transition,
    changes: rows.Values,
    *,
    action: str | None = None,
    event: str | None = None,
) -> None:
    """Change columns if the states are still as `guard` demands, and record the action.

    A server that has moved to another host or cell is read again. A server that is about to change
    cells accepts no action except its deletion.
    """
    write: Callable[..., None] = _end if guard.during == states.TaskState.DELETING else _change
    given = {'guard': guard, 'changes': changes, 'action': action, 'event': event}
    persist(req, server, guard, lambda: server.cell.db.write(write, req.ctxt, server.row, **given))


def persist(
    req: request.Request,
    server: server_access.Server,
    guard: transitions.Transition,
    write: Callable[[], T],
) -> T:
    """Call `write()`, which changes `server.row` in `server.cell`, and return its result.

    It is called again for a server that has moved. Raises as `refuse` if `write` raises
    StateChanged for another reason.
    """
    require_cell(server)
    return in_its_cell(req, server, lambda: _persist(server, guard, write))


def in_its_cell(req: request.Request, server: server_access.Server, write: Callable[[], T]) -> T:
    """Call `write()`, which changes records in the cell of `server`, and return its result.

    The records are sealed at the instant in which the records of another cell replace them.
    A write at that instant waits, and is then made in the new cell. Raise InstanceSealed if the
    wait takes too long, because the owner of the move has died and another process will take over.
    """
    deadline = runtime.monotonic() + SWITCH_S
    while True:
        try:
            return write()
        except (exception.InstanceSealed, exception.InstanceNotFound) as error:
            found = server_access.load(req, server.uuid)
            if found.cell is server.cell:
                if isinstance(error, exception.NotFound) or runtime.monotonic() > deadline:
                    raise
                req.app.waiters.pause(req, LOOK_S)
            server.follow(found)


def _persist(
    server: server_access.Server, guard: transitions.Transition, write: Callable[[], T]
) -> T:
    for _attempt in range(MOVES_MET):
        try:
            return write()
        except exception.StateChanged:
            row = server.cell.db.read(instances.get, server.uuid)
            if row.host == server.row.host:
                break
            server.row = row
    refuse(server, guard)


def _end(
    connection: sa.Connection, ctxt: context.RequestContext, row: rows.Row, **options: typing.Any
) -> None:
    instances.hold(connection, row.uuid)
    _store(connection, ctxt, row, **options)


def _change(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    row: rows.Row,
    *,
    changes: rows.Values,
    **options: typing.Any,
) -> None:
    now = instances.lock(connection, row.uuid)
    _store(connection, ctxt, row, changes=_with_other_keys(now, changes), **options)


def _with_other_keys(row: rows.Row, changes: rows.Values) -> rows.Values:
    """Complete changes of system metadata with the unchanged keys of the row."""
    if 'system_metadata' not in changes:
        return changes
    return {**changes, 'system_metadata': {**row.system_metadata, **changes['system_metadata']}}


def _store(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    row: rows.Row,
    *,
    guard: transitions.Transition,
    changes: rows.Values,
    action: str | None,
    event: str | None = None,
) -> None:
    if guard.shareless:
        shares.require_none(connection, row.uuid)
    instances.update(
        connection,
        row.uuid,
        changes,
        expect_task=_texts(guard.task_states),
        expect_vm=_texts(guard.vm_states),
        expect_host=(row.host,),
    )
    if action is not None:
        actions.start(connection, ctxt, row.uuid, action)
    if event is not None:
        actions.start_event(connection, row.uuid, ctxt.request_id, event, host=row.host, new=True)


def _texts(allowed: Iterable[str | None] | None) -> typing.Any:
    if allowed is None:
        return instances.ANY
    return tuple(None if each is None else str(each) for each in allowed)


def refuse(server: server_access.Server, guard: transitions.Transition) -> typing.NoReturn:
    """Raise InstanceInvalidState or NotFound: another request has changed the server first."""
    row = server.cell.db.read(instances.find, server.uuid)
    if row is None or row.deleted:
        raise exception.InstanceNotFound(instance_id=server.uuid) from None
    if row.host != server.row.host:
        raise exception.InstanceMoved(action=guard.verb, instance_id=server.uuid) from None
    attr, state = 'task_state', row.task_state
    if guard.vm_states is not None and row.vm_state not in guard.vm_states:
        attr, state = 'vm_state', row.vm_state
    elif guard.task_states is None or row.task_state in guard.task_states:
        raise exception.Conflict(
            reason=f'another request changed the server. Send the request to {guard.verb} again'
        )
    raise exception.InstanceInvalidState(
        action=guard.verb, instance_id=server.uuid, attr=attr, state=state
    ) from None


def send(
    req: request.Request,
    server: server_access.Server,
    method: str,
    *,
    host: str | None = None,
    **arguments: typing.Any,
) -> None:
    """Cast to the server's host. If the cast fails, the host's audit resumes or ends the work.

    host: another host of the server's cell
    """
    cast = getattr(req.app.compute(server.cell), method)
    try:
        cast(req.ctxt, host=host or server.row.host, **arguments)
    except exception.Unavailable as error:
        LOG.warning(
            'Cannot cast %s of server %s: %s. The audit of its host resumes or ends it later.',
            method,
            server.uuid,
            error,
        )


def _of_object(changes: rows.Values) -> dict[str, typing.Any]:
    return {
        name: value for name, value in changes.items() if name in instance_objects.Instance.fields
    }


def devices(server: server_access.Server) -> list[block_device.BlockDevice]:
    """Return the block devices of a server as objects for a message."""
    found = server.cell.db.read(children.block_devices, [server.uuid])
    return [block_device.BlockDevice.of(row) for row in found.get(server.uuid, [])]


def boots_from_volume(found: Iterable[block_device.BlockDevice]) -> bool:
    """Return whether the root disk among these block devices is a volume."""
    return any(d.boot_index == 0 and d.destination_type == 'volume' for d in found)
