"""confirmResize and revertResize: how a resize or a cold migration ends.

Source: reference/nova/moves 2.3.
"""

import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import cold_moves as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import cross_cell
from nova_lite.api.servers import moves
from nova_lite.api.servers import source_host
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import confirmations
from nova_lite.saga import journal
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

Status = states.MigrationStatus
CONFIRM, REVERT = 'confirm-resize', 'revert-resize'
# The kinds of sagas after which the source of a resize has nothing of the server, or all.
ENDING = (CONFIRM, REVERT, cross_cell.kind(CONFIRM, True), cross_cell.kind(REVERT, True))


class NotResized(exception.Invalid):
    msg = 'Instance has not been resized.'


@operation.server_action(
    'confirmResize',
    policy=rules.CONFIRM_RESIZE,
    guard=transitions.CONFIRM_RESIZE,
    success=204,
    faults=(400, 403, 404, 409),
)
def confirm(req: request.Request, server: server_access.Server) -> None:
    """Confirm a resize: the server keeps its new host and flavor."""
    migration = finished(server)
    source_host.require_up(req, server, migration.source_compute, crosses=migration.cross_cell_move)
    _begin(
        req,
        server,
        migration,
        kind=CONFIRM,
        guard=transitions.CONFIRM_RESIZE,
        status=Status.CONFIRMING,
    )


@operation.server_action(
    'revertResize',
    policy=rules.REVERT_RESIZE,
    guard=transitions.REVERT_RESIZE,
    success=202,
    faults=(400, 403, 404, 409),
)
def revert(req: request.Request, server: server_access.Server) -> None:
    """Move the server back to its former host, with its former flavor.

    If the former flavor does not fit into the quota, the answer is 403; nova answers 500.
    """
    migration, row = finished(server), server.row
    if row.old_flavor is None:
        raise NotResized()
    _begin(
        req,
        server,
        migration,
        kind=REVERT,
        guard=transitions.REVERT_RESIZE,
        status=Status.REVERTING,
        flavor=row.old_flavor,
    )


def finished(server: server_access.Server) -> rows.Row:
    """Return the finished migration that waits to be confirmed or reverted. Raise NotResized."""
    acting.require_cell(server)
    found = server.cell.db.read(migrations.of_instance, server.uuid, [str(Status.FINISHED)])
    if not found:
        raise NotResized()
    return found[-1]


def confirm_reset(req: request.Request, server: server_access.Server) -> None:
    """Confirm the resize of a server whose state was just reset, if there is one.

    The resize can no longer be confirmed or reverted by its user. If another saga has the server,
    or a database does not answer, an audit of the super-conductor confirms the resize later: the
    reset has taken place, so that the request does not fail any more.
    """
    try:
        migration = finished(server)
        uuid = confirmations.begin(
            req.app.api_db, server.cell, migration, transitions.CONFIRM_RESET
        )
    except NotResized:
        return
    except exception.NovaLiteError as error:
        LOG.warning('Not confirming the resize of server %s yet: %s', server.uuid, error)
        return
    moves.run_saga(req, uuid)


def confirm_for_deletion(
    req: request.Request,
    server: server_access.Server,
    *,
    guard: transitions.Transition,
    **arguments: typing.Any,
) -> bool:
    """Confirm the resize of a server that is being deleted. Return False if there is none.

    arguments: delete, keep: whether the deletion follows once the source has been cleaned up
    """
    try:
        migration = finished(server)
    except NotResized:
        return False
    _begin(
        req,
        server,
        migration,
        kind=CONFIRM,
        guard=guard,
        status=Status.CONFIRMING,
        arguments=arguments,
    )
    return True


def is_confirmed(server: server_access.Server) -> bool:
    """Return whether the resize of a server is being confirmed, and not reverted."""
    confirming = [str(Status.CONFIRMING)]
    return bool(server.cell.db.read(migrations.of_instance, server.uuid, confirming))


def is_ending(req: request.Request, server: server_access.Server) -> bool:
    """Return whether a saga confirms or reverts the server's resize now.

    A saga that has ended and is cleaning up may also hold the server for a moment.
    """
    saga = req.app.api_db.read(sagas.find_active, server.uuid)
    return saga is not None and saga.kind in ENDING and saga.state != journal.CLEANING


def _begin(
    req: request.Request,
    server: server_access.Server,
    migration: rows.Row,
    *,
    kind: str,
    guard: transitions.Transition,
    status: str,
    **options: typing.Any,
) -> None:
    moves.begin(
        req,
        server,
        kind=cross_cell.kind(kind, migration.cross_cell_move),
        uuid=runtime.new_uuid(),
        guard=guard,
        action='revertResize' if status is Status.REVERTING else 'confirmResize',
        arguments={**options.pop('arguments', {}), 'migration_uuid': migration.uuid},
        claims={
            'uuid': migration.uuid,
            'from': [str(Status.FINISHED)],
            'to': str(status),
        },
        **options,
    )
