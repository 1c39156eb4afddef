"""/servers/{server_id}/migrations: watch live migrations in progress, or end them early.

Source: reference/nova/moves 2.7.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api import times
from nova_lite.api.policies import live_migrations as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import moves
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.states import transitions

T = typing.TypeVar('T')

PATH = '/servers/{server_id}/migrations'
ONE = PATH + '/{migration_id}'
Status = states.MigrationStatus
RUNNING = (Status.RUNNING,)
UNDER_WAY = (Status.QUEUED, Status.PREPARING, Status.RUNNING)
PLACES = ('source_compute', 'source_node', 'dest_compute', 'dest_node', 'dest_host')
COUNTERS = tuple(
    f'{what}_{part}' for what in ('memory', 'disk') for part in ('total', 'processed', 'remaining')
)
ALREADY = 'An earlier request of this kind is still in progress for the migration.'
FORCE_COMPLETE = {'2.22': schema_parts.body('force_complete', schema_parts.NOTHING)}


class NotInProgress(exception.NotFound):
    msg = 'Server %(instance_id)s has no live migration %(migration_id)s in progress.'


class NoSuchMigration(exception.Invalid):
    msg = 'Server %(instance_id)s has no migration %(migration_id)s.'


class WrongStatus(exception.Invalid):
    msg = 'Cannot %(verb)s migration %(migration_id)s of server %(instance_id)s: it is %(status)s.'


# ---- watching ---------------------------------------------------------------


@operation.operation('GET', PATH, since='2.23', policy=rules.LIST, faults=(403, 404))
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List the live migrations of the server in progress: usually one or none."""
    found = _read(req, server, live_migrations.shown) or ()
    places = req.allows(rules.LIST_HOST, server.target)
    return {'migrations': [_view(req, row, places=places) for row in found]}


@operation.operation('GET', ONE, since='2.23', policy=rules.SHOW, faults=(400, 403, 404))
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show one live migration in progress."""
    wanted = req.args['migration_id']
    for row in _read(req, server, live_migrations.shown) or ():
        if str(row.id) == wanted:
            return {'migration': _view(req, row, places=True)}
    raise NotInProgress(instance_id=server.uuid, migration_id=wanted)


def _read(
    req: request.Request,
    server: server_access.Server,
    function: Callable[..., T],
    *args: typing.Any,
) -> T | None:
    """Read from the cell of the server. Return None if the server is in no cell yet."""
    if not server.is_in_cell:
        return None
    return server_access.read_cell(req, server.cell, server.mapping, function, server.uuid, *args)


def _view(req: request.Request, row: rows.Row, *, places: bool) -> session.Json:
    shown = {
        'id': row.id,
        'status': row.status,
        'server_uuid': row.instance_uuid,
        'created_at': times.naive(row.created_at),
        'updated_at': times.naive(row.updated_at),
        **{name: getattr(row, name) if places else None for name in PLACES},
        **{f'{name}_bytes': getattr(row, name) for name in COUNTERS},
    }
    if req.minor >= 59:
        shown['uuid'] = row.uuid
    if req.minor >= 80:
        shown['user_id'], shown['project_id'] = row.user_id, row.project_id
    return shown


# ---- ending it early --------------------------------------------------------


@operation.operation(
    'POST',
    ONE + '/action',
    action='force_complete',
    since='2.22',
    policy=rules.FORCE_COMPLETE,
    guard=transitions.LIVE_MIGRATION_FORCE_COMPLETE,
    body=FORCE_COMPLETE,
    success=202,
    faults=(400, 403, 404, 409),
)
def force_complete(req: request.Request, server: server_access.Server) -> None:
    """Force the hypervisor to complete the copy, for example by pausing the guest."""
    number = identifiers.number(req.args['migration_id'], 'migration id')
    row = _read(req, server, live_migrations.find, number)
    if row is None:
        raise NoSuchMigration(instance_id=server.uuid, migration_id=number)
    recorded = _record(
        req,
        server,
        row,
        command=live_migrations.FORCE_COMPLETE,
        action='live_migration_force_complete',
        allowed=RUNNING,
    )
    if recorded:
        _tell(req, server, row, 'live_migration_force_complete')


@operation.operation(
    'DELETE',
    ONE,
    since='2.24',
    policy=rules.DELETE,
    guard=transitions.LIVE_MIGRATION_ABORT,
    success=202,
    faults=(400, 403, 404, 409),
)
def abort(req: request.Request, server: server_access.Server) -> None:
    """Abort a live migration; from 2.65 also before it has begun to copy."""
    number = identifiers.number(req.args['migration_id'], 'migration id')
    row = _read(req, server, live_migrations.find, number)
    if row is None:
        raise exception.MigrationNotFoundForInstance(instance_id=server.uuid, migration_id=number)
    recorded = _record(
        req,
        server,
        row,
        command=live_migrations.ABORT,
        action='live_migration_cancel',
        allowed=UNDER_WAY if req.minor >= 65 else RUNNING,
    )
    if recorded:
        _tell(req, server, row, 'live_migration_abort')


def _tell(req: request.Request, server: server_access.Server, row: rows.Row, method: str) -> None:
    """Notify the source host and the super-conductor of a command."""
    acting.send(
        req,
        server,
        method,
        host=row.source_compute,
        instance_uuid=server.uuid,
        migration_uuid=row.uuid,
    )
    if req.app.api_db.write(sagas.wake, row.uuid):
        moves.run_saga(req, row.uuid)


def _record(
    req: request.Request,
    server: server_access.Server,
    row: rows.Row,
    *,
    command: str,
    action: str,
    allowed: Sequence[str],
) -> bool:
    """Record the command and the action in one transaction. Raise WrongStatus.

    The next poll of the migration carries out the command, also if the message is lost.
    Return False if another request has recorded the same command: then the action has failed.
    """
    acting.require_host(server)
    return server.cell.db.write(
        _write, req.ctxt, server.uuid, row.uuid, command=command, action=action, allowed=allowed
    )


def _write(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    instance_uuid: str,
    migration_uuid: str,
    *,
    command: str,
    action: str,
    allowed: Sequence[str],
) -> bool:
    instances.get(connection, instance_uuid)
    row = live_migrations.lock(connection, migration_uuid)
    if row is None:
        raise exception.MigrationNotFoundForInstance(
            migration_id=migration_uuid, instance_id=instance_uuid
        )
    if row.status not in allowed:
        verb = 'abort' if command == live_migrations.ABORT else 'complete'
        raise WrongStatus(
            verb=verb, migration_id=row.id, instance_id=instance_uuid, status=row.status
        )
    actions.start(connection, ctxt, instance_uuid, action)
    event = (instance_uuid, ctxt.request_id, live_migrations.ANSWERS[command])
    # The action ends when the source host answers, or with the migration.
    actions.start_event(connection, *event, host=row.source_compute)
    if live_migrations.add_command(connection, row, command, ctxt):
        return True
    actions.finish_event(connection, *event, host=row.source_compute, error=ALREADY)
    return False
