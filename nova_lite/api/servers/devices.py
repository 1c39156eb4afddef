"""Attach and detach devices by a saga, and wait for its first result.

The answer waits for the result that it contains; the saga continues after the answer.
"""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import moves
from nova_lite.api.servers import outcomes
from nova_lite.db import rows
from nova_lite.states import transitions

# The microversion from which volumes of shelved servers can be attached and detached.
SHELVED_SINCE = 20
SHELVED = ('shelved', 'shelved_offloaded')
# Seconds between two messages of a waiting request that check whether a bus answers.
ASK_S = 1.0
# {name of an error in a saga: class with which these operations answer}
TYPES = {
    'NoMoreFixedIps': exception.Invalid,
    'FixedIpInUse': exception.Conflict,
    'PortBindingFailed': exception.Invalid,
}


def begin(
    req: request.Request,
    server: server_access.Server,
    *,
    kind: str,
    guard: transitions.Transition,
    arguments: operation.Body,
    **options: typing.Any,
) -> str:
    """Begin a saga that attaches or detaches a device. Return its uuid.

    guard: its verb is the name in the record of actions; options: as moves.begin
    Clients attach several devices at the same time: each request waits for its turn.
    """
    # Before anything is recorded: a request that may not wait leaves nothing behind.
    req.app.waiters.enter(req)
    return moves.begin(
        req,
        server,
        kind=kind,
        guard=guard,
        action=guard.verb,
        arguments=arguments,
        hostless=True,
        timeout_s=req.conf.api.device_timeout,
        **options,
    )


def require_answers(req: request.Request, server: server_access.Server) -> None:
    """Raise BusUnavailable unless the buses to the host of a server answer."""
    req.app.waiters.enter(req)
    req.app.super_conductor.require_answers()
    _require_host_reached(req, server)


def progress(req: request.Request, server: server_access.Server) -> Callable[[rows.Row], None]:
    """Return a function of a saga's row that raises BusUnavailable if the saga waits for a bus.

    A bus is asked every ASK_S seconds, for the first time after ASK_S.
    """
    due = runtime.monotonic() + ASK_S

    def require(row: rows.Row) -> None:
        nonlocal due
        if runtime.monotonic() < due:
            return
        due = runtime.monotonic() + ASK_S
        if not row.epoch:
            req.app.super_conductor.require_answers()
        elif row.attempts:
            _require_host_reached(req, server)

    return require


def _require_host_reached(req: request.Request, server: server_access.Server) -> None:
    req.app.compute(server.cell).require_answers(server.row.host)


def wait(
    req: request.Request, uuid: str, *, meanwhile: Callable[[rows.Row], object] = outcomes.nothing
) -> typing.Any:
    """Wait until a saga has accepted a device. Return its result. meanwhile: of `outcomes.wait`"""
    row = outcomes.wait(
        req,
        uuid,
        lambda row: row.data.get('accepted'),
        timeout_s=req.conf.api.device_timeout,
        meaning=lambda error: TYPES.get(error['type']),
        meanwhile=meanwhile,
    )
    return row.data.get('accepted')


def require_shelvable(
    req: request.Request, server: server_access.Server, guard: transitions.Transition
) -> None:
    """Raise InstanceInvalidState for a shelved server before the microversion that allows it."""
    if req.minor < SHELVED_SINCE and server.row.vm_state in SHELVED:
        raise exception.InstanceInvalidState(
            action=guard.verb,
            instance_id=server.uuid,
            attr='vm_state',
            state=server.row.vm_state,
        )
