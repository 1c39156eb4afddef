"""Start of a move by a handler: the intent, its transaction, and the cast.

The saga of that kind does the further steps (moves.kinds).
"""

from collections.abc import Mapping
import functools
import typing

from oslo_log import log

from nova_lite import cells
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import acting
from nova_lite.db.api import sagas
from nova_lite.lifecycle import intents
from nova_lite.moves import kinds
from nova_lite.states import transitions

LOG = log.getLogger(__name__)


def begin(
    req: request.Request,
    server: server_access.Server,
    *,
    kind: str,
    guard: transitions.Transition,
    action: str,
    **options: typing.Any,
) -> str:
    """Begin a move of a server. Return the uuid of its saga.

    guard: a row of transitions.TRANSITIONS; action: name in the record of actions
    options: uuid: of the migration of the move, by default a new uuid
        arguments: arguments of the saga, see Arguments in its module
        changes: further columns of the server
        migration: columns of the migration record to create
        claims: {'uuid', 'from', 'to'}: a migration whose status must change
        device: columns of a new block device
        down: {'host', 'down_time_s'}: a host that must be down when it begins
        most_devices: largest number of devices of the server, the new device included
        same: columns of the server that must have the values that the request has read
        message: text recorded with the action
        timeout_s: how long to wait for another saga of the server to end
        flavor: that the server will have, if the move changes its size
        hostless: True for a server that may be on no host
    Raise InstanceNotReady, TooOld if the computes of the cell lack methods of this kind of move,
    InstanceInvalidState or InstanceSealed after a lost race, InstanceMoved if the server is on
    another host than the request has read, and OverQuota if the owner's quota is exceeded.
    """
    if not options.get('hostless'):
        acting.require_host(server)
    _require_new_computes(req, server.cell, kind)
    intent = intents.Intent(
        kind=kind,
        uuid=options.get('uuid') or runtime.new_uuid(),
        instance_uuid=server.uuid,
        arguments=kinds.arguments(kind, options.get('arguments') or {}),
        order=intents.order(guard, action, host=server.row.host, **options),
        timeout_s=options.get('timeout_s', intents.END_TIMEOUT_S),
        pause=functools.partial(req.app.waiters.pause, req),
        **_counting(req, server, options.get('flavor')),
    )
    _record(req, server, guard, intent)
    run_saga(req, intent.uuid)
    return intent.uuid


def _record(
    req: request.Request,
    server: server_access.Server,
    guard: transitions.Transition,
    intent: intents.Intent,
) -> None:
    try:
        intents.begin(req.app.api_db, server.cell, req.ctxt, intent)
    except exception.StateChanged:
        acting.refuse(server, guard)
    except exception.InstanceNotFound:
        # The server is in another cell now, or this raises that it is deleted.
        server_access.load(req, server.uuid)
        raise exception.InstanceSealed(instance_id=server.uuid) from None


def _counting(
    req: request.Request, server: server_access.Server, flavor: Mapping[str, typing.Any] | None
) -> dict[str, typing.Any]:
    """Return the fields of an intent that make the server count with a flavor in quotas."""
    if flavor is None:
        return {}
    row = server.row
    by = quota.rules(req, row.project_id)
    size = by.size_of(flavor, row.image_properties or {})
    admit = functools.partial(quota.admit_move, by=by, server=row, size=size)
    return {'size': quota.size_of(flavor), 'admit': admit}


def await_end(req: request.Request, server: server_access.Server) -> None:
    """Wait until no saga with a task has the server. Raise Conflict after some seconds.

    An administrator may have reset the task of a saga that removes the guest from its host, or
    creates it again. An action of the host must not create the guest at the same time.
    """
    has_waited = False
    for _look in req.app.waiters.looks(req, intents.END_TIMEOUT_S):
        if not _is_moving(req, server):
            break
        has_waited = True
    else:
        raise exception.Conflict(reason='another operation is moving the server')
    if has_waited:
        server.follow(server_access.load(req, server.uuid))


def _is_moving(req: request.Request, server: server_access.Server) -> bool:
    found = req.app.api_db.read(sagas.find_active, server.uuid)
    return found is not None and kinds.sets_task(found.kind)


def _require_new_computes(req: request.Request, cell: cells.Cell, kind: str) -> None:
    """Raise TooOld unless the computes of the cell support all methods that may be called."""
    if cell.is_cell0:
        return  # There are none, and the state of a server there allows no move.
    for method in sorted(kinds.calls(kind)):
        req.app.compute(cell).require(method)


def run_saga(req: request.Request, uuid: str) -> None:
    """Notify a super-conductor. If the cast is lost, the sweep finds the saga."""
    try:
        req.app.super_conductor.run_saga(req.ctxt, saga_uuid=uuid)
    except exception.Unavailable as error:
        LOG.warning('Cannot start saga %s now: %s. The sweep will start it.', uuid, error)
