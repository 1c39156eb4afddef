"""evacuate: rebuild a server on another host after a failure of its host.

Source: reference/nova/moves 2.5.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite import versions
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import live_migrations as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_content
from nova_lite.api.servers import destination
from nova_lite.api.servers import left_guest
from nova_lite.api.servers import live_migrate
from nova_lite.api.servers import moves
from nova_lite.db.api import sagas
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import services
from nova_lite.states import transitions

ACTION = 'evacuate'
LIVE_MIGRATION = str(states.MigrationType.LIVE_MIGRATION)
PASSWORD = {'type': 'string'}
_COMMON: dict[str, schema.Source] = {'host': schema_parts.HOST, 'adminPass': PASSWORD}
BODY = {
    '2.1': schema_parts.whole(
        {**_COMMON, 'onSharedStorage': schema_parts.BOOLEAN}, required=['onSharedStorage']
    ),
    '2.14': schema_parts.whole(_COMMON),
    '2.29': schema_parts.whole({**_COMMON, 'force': schema_parts.BOOLEAN}),
    '2.68': schema_parts.whole(_COMMON),
}
# The microversion from which the server stays stopped on its new host.
STOPPED = 95


class SameHost(exception.Invalid):
    msg = 'The server is already on host %(host)s. Choose another host.'


class PasswordOfKeptDisk(exception.Invalid):
    msg = "admin password can't be changed on existing disk"


class OldComputes(exception.Invalid):
    msg = (
        'The server cannot be left stopped: a compute service is older than version %(version)s. '
        'Finish the upgrade, or use a microversion before 2.95.'
    )


@operation.server_action(
    ACTION,
    policy=rules.EVACUATE,
    guard=transitions.EVACUATE,
    precheck=lambda req, server: _require_evacuable(req, server),
    lock=False,
    body=BODY,
    success=200,
    faults=(400, 403, 404, 409),
)
def evacuate(req: request.Request, server: server_access.Server) -> operation.Result:
    """Begin to rebuild the server on another host. Before 2.14 the answer has a password."""
    asked = req.content
    password = _password(req, asked)
    if req.minor >= STOPPED:
        _require_computes(req)
    acting.require_host(server)
    wanted = _destination(req, server, asked.get('host'))
    forced = _is_forced(req, asked)
    source = {'host': server.row.host, 'down_time_s': req.conf.service_down_time}
    server.cell.db.read(services.require_down, **source)
    left_guest.remove(req, server)
    _give_up_live_migration(req, server)
    uuid = runtime.new_uuid()
    migration = live_migrate.migration_of(
        req, server, uuid, states.MigrationType.EVACUATION, wanted
    )
    moves.begin(
        req,
        server,
        kind='evacuation',
        uuid=uuid,
        guard=transitions.EVACUATE,
        action='evacuate',
        message=live_migrate.forced_message(wanted['host']) if forced and wanted else None,
        arguments={
            **(wanted or {}),
            'forced': forced,
            'leave_stopped': req.minor >= STOPPED,
        },
        migration={**migration, 'forced': forced},
        # The host may have reported in the meantime.
        down=source,
    )
    if req.minor < 14 and req.conf.api.enable_instance_password:
        return {'adminPass': password}
    return None


def _give_up_live_migration(req: request.Request, server: server_access.Server) -> None:
    """Make a live migration of the server end, which waits for the host that is down.

    The migration would wait some minutes for a host that is not forced down.
    """
    saga = req.app.api_db.read(sagas.find_active, server.uuid)
    if saga is None or saga.kind != LIVE_MIGRATION:
        return
    server.cell.db.write(live_migrations.note_evacuation, saga.uuid)
    if req.app.api_db.write(sagas.wake, saga.uuid):
        moves.run_saga(req, saga.uuid)


def _password(req: request.Request, asked: operation.Body) -> str | None:
    """Return the password of the rebuilt server. Raise PasswordOfKeptDisk."""
    if schema_parts.is_true(asked.get('onSharedStorage', False)):
        if 'adminPass' in asked:
            raise PasswordOfKeptDisk()
        return None
    return create_content.password(req.conf, asked.get('adminPass'))


def _is_forced(req: request.Request, asked: operation.Body) -> bool:
    """Return whether the named host is forced past the scheduler: before 2.29, always."""
    if req.minor < 29:
        return bool(asked.get('host'))
    force = schema_parts.is_true(asked.get('force', False))
    if force and not asked.get('host'):
        raise live_migrate.ForceWithoutHost()
    return force


def _require_evacuable(req: request.Request, server: server_access.Server) -> None:
    """Raise UnknownHost, SameHost for the server's own host, or Invalid for its guest."""
    host = req.content.get('host')
    if host is not None:
        destination.cell_id(req, host)
        if host == server.row.host:
            raise SameHost(host=host)
    require_movable_guest(server)


def require_movable_guest(server: server_access.Server) -> None:
    """Raise Invalid if the guest has a virtual TPM, which is lost with its host."""
    acting.require_no_tpm(server, ACTION)


def _destination(
    req: request.Request, server: server_access.Server, host: str | None
) -> dict[str, str] | None:
    return None if host is None else destination.anywhere(req, server, host)


def _require_computes(req: request.Request) -> None:
    """Raise OldComputes unless every compute of every cell can leave a server stopped."""
    found = req.app.cells.scatter(services.minimum_version)
    known = [version for version in found.values() if isinstance(version, int)]
    if known and min(known) < versions.STOPPED_EVACUATION_SINCE:
        raise OldComputes(version=versions.STOPPED_EVACUATION_SINCE)
