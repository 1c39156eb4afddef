"""os-migrateLive: move a server to another host while it runs.

The scheduler checks a named host unless the host is forced. Before 2.30 a named host is always
forced. Source: reference/nova/moves 2.4.
"""

from collections.abc import Mapping
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import live_migrations as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import destination
from nova_lite.api.servers import moves
from nova_lite.api.servers import outcomes
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.states import transitions

ACTION = 'os-migrateLive'
# Its name in refusals.
OPERATION = 'live-migration'
HOST = schema_parts.null_or(schema_parts.HOST)
BLOCK = schema_parts.BOOLEAN_OR_AUTO


def _body(block: schema.Source, *required: str, **more: schema.Source) -> schema.Source:
    content = {'block_migration': block, 'host': HOST, **more}
    return schema_parts.whole(content, required=['block_migration', 'host', *required])


BODY = {
    '2.1': _body(schema_parts.BOOLEAN, 'disk_over_commit', disk_over_commit=schema_parts.BOOLEAN),
    '2.25': _body(BLOCK),
    '2.30': _body(BLOCK, force=schema_parts.BOOLEAN),
    '2.68': _body(BLOCK),
}
# The microversion from which the answer does not wait for the checks.
ASYNCHRONOUS = 34
CHECKED_TIMEOUT_S = 60
# Status codes of failed checks, of contradictions in the request and of wrong states.
REFUSALS = ('NoValidHost', 'RequestFilterFailed', 'MaxRetriesExceeded', 'MigrationPreCheckError')


class ForceWithoutHost(exception.Invalid):
    msg = "Can't force to a non-provided destination"


class Refused(exception.Invalid):
    """The checks of a live migration have refused it."""


def rule(req: request.Request) -> str:
    """Return the rule of the policy, which differs if the request names a host."""
    return rules.MIGRATE_LIVE_HOST if req.content['host'] else rules.MIGRATE_LIVE


def require_movable_guest(server: server_access.Server) -> None:
    """Raise Invalid if the TPM or the memory of the guest cannot be copied to another host."""
    acting.require_no_private_tpm(server, OPERATION)
    acting.require_plain_memory(server, OPERATION)


@operation.server_action(
    ACTION,
    policy=rule,
    guard=transitions.LIVE_MIGRATE,
    precheck=lambda _req, server: require_movable_guest(server),
    body=BODY,
    success=202,
    faults=(400, 403, 404, 409),
)
def live_migrate(req: request.Request, server: server_access.Server) -> None:
    """Begin a live migration. Before 2.34 the answer waits for the checks."""
    asked = req.content
    host = asked['host']
    forced = is_forced(req, asked)
    acting.require_host(server)
    wanted = destination.in_cell(server, host) if host else None
    if req.minor < ASYNCHRONOUS:
        req.app.waiters.enter(req)
    uuid = runtime.new_uuid()
    moves.begin(
        req,
        server,
        kind='live-migration',
        uuid=uuid,
        guard=transitions.LIVE_MIGRATE,
        action='live-migration',
        message=forced_message(host) if forced else None,
        arguments={
            **(wanted or {}),
            'forced': forced,
            'block_migration': _block_migration(asked['block_migration']),
            'synchronous': req.minor < ASYNCHRONOUS,
        },
        migration=migration_of(
            req, server, uuid, states.MigrationType.LIVE_MIGRATION, wanted if forced else None
        ),
    )
    if req.minor < ASYNCHRONOUS:
        _wait_for_checks(req, uuid)


def is_forced(req: request.Request, asked: operation.Body) -> bool:
    """Return whether the move to the named host is forced past the scheduler.

    Before 2.30 the move is always forced, from 2.68 never. Raise ForceWithoutHost.
    """
    force = schema_parts.is_true(asked.get('force', req.minor < 30))
    if force and 'force' in asked and not asked.get('host'):
        raise ForceWithoutHost()
    return force and bool(asked.get('host'))


def forced_message(host: str) -> str:
    """Return the message of the instance action of a move that the scheduler did not check."""
    return f'Forced to host {host} without asking the scheduler.'


def migration_of(
    req: request.Request,
    server: server_access.Server,
    uuid: str,
    kind: states.MigrationType,
    wanted: Mapping[str, str] | None,
) -> dict[str, typing.Any]:
    """Return the columns of a migration that begins. wanted: {'host', 'node'} or None."""
    row = server.row
    return {
        'uuid': uuid,
        'instance_uuid': server.uuid,
        'migration_type': str(kind),
        'status': str(states.MigrationStatus.ACCEPTED),
        'source_compute': row.host,
        'source_node': row.node,
        'dest_compute': wanted and wanted['host'],
        'dest_node': wanted and wanted['node'],
        'old_instance_type_id': row.flavor_id,
        'new_instance_type_id': row.flavor_id,
        'old_vm_state': row.vm_state,
        'forced': wanted is not None,
        'user_id': req.ctxt.user_id,
        'project_id': req.ctxt.project_id,
    }


def _block_migration(value: object) -> bool | None:
    """Return True, False, or None if the hypervisors decide."""
    return None if value == 'auto' else schema_parts.is_true(value)


def _wait_for_checks(req: request.Request, uuid: str) -> None:
    """Wait until the checks have passed. Raise Refused, or the error that ended the saga.

    A refused migration has been undone by then, so the request can be repeated at once.
    """
    outcomes.wait(req, uuid, _is_checked, timeout_s=CHECKED_TIMEOUT_S, meaning=_meaning)


def _meaning(error: session.Json) -> type[exception.NovaLiteError] | None:
    if error['type'] == 'InstanceInvalidState':
        return exception.Conflict
    if error['kind'] in ('invalid', 'conflict') or error['type'] in REFUSALS:
        return Refused
    return None


def _is_checked(row: rows.Row) -> bool:
    # Also while it is undone: what a host fails to do after the checks is no answer to the request.
    return bool(row.data.get('checked'))
