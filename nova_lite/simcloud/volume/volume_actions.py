"""POST /v3/volumes/{id}/action: one function for each action."""

from collections.abc import Callable
import dataclasses
import typing

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import attachments
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import releases
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_metadata
from nova_lite.simcloud.volume import volume_migrations
from nova_lite.simcloud.volume import volume_types
from nova_lite.simcloud.volume import volumes

_NOTHING = {'anyOf': [{'type': 'object'}, {'type': 'null'}, {'const': ''}]}
_METADATA = bodies.record({'metadata': volume_metadata.METADATA}, ['metadata'])
_WHICH = bodies.nullable(bodies.record({'attachment_id': bodies.OPTIONAL_ID}))
_RESETTABLE = ('status', 'attach_status', 'migration_status')
BODY = bodies.compiled({'type': 'object', 'minProperties': 1, 'maxProperties': 1})

# (connection, caller, row of the volume, value under the key) -> body of the answer, or None
Run: typing.TypeAlias = Callable[
    [sa.Connection, callers.Caller, database.Row, typing.Any], bodies.Json | None
]
R = typing.TypeVar('R', bound=Run)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Action:
    """The action that the key of a body requests.

    run: returns the body of the answer, or None
    body: validator of the value under that key
    since: microversion that added the action
    in_use_since: microversion since which the volume may be in use
    event: name of the event that is sent for the servers of the volume, if any
    releases: whether the action ends attachments; see releases.check
    then: called after the change with the database, the sender of events and the volume's ID
    """

    run: Run
    body: bodies.Validator
    status: int = 202
    since: int = 0
    in_use_since: int = 0
    event: str | None = None
    releases: bool = False
    then: Callable[[database.Database, external_events.Sender, str], None] | None = None


ACTIONS: dict[str, Action] = {}


def action(name: str, schema: bodies.Schema = _NOTHING, **options: typing.Any) -> Callable[[R], R]:
    """Return a decorator that declares a function as an action. options: fields of Action"""

    def declare(function: R) -> R:
        ACTIONS[name] = Action(run=function, body=bodies.compiled(schema), **options)
        return function

    return declare


@action('os-reserve')
def reserve(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json | None
) -> None:
    """Reserve an available volume."""
    records.require_status(volume, 'available')
    records.save(conn, volume, status='reserved')


@action('os-unreserve')
def unreserve(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json | None
) -> None:
    """Make a reserved volume available. A volume with another status is not changed."""
    if volume['status'] == 'reserved':
        records.settle(conn, volume)


@action('os-begin_detaching')
def begin_detaching(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json | None
) -> None:
    """Mark a volume in use as detaching. A migrating volume is not changed."""
    if records.is_migrating(volume):
        return
    records.require_status(volume, 'in-use')
    records.save(conn, volume, status='detaching')


@action('os-roll_detaching')
def roll_detaching(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json | None
) -> None:
    """Give a detaching volume the status that follows from its attachments."""
    if volume['status'] == 'detaching':
        records.settle(conn, volume)


@action(
    'os-attach',
    bodies.record(
        {
            'instance_uuid': bodies.OPTIONAL_ID,
            'mountpoint': bodies.STRING,
            'host_name': bodies.OPTIONAL_STRING,
            'mode': attachments.MODE,
        }
    ),
)
def attach(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Attach a volume in one step, for clients that do not use /v3/attachments."""
    connector = {
        'host': wanted.get('host_name') or '',
        'mountpoint': wanted.get('mountpoint'),
    }
    row = attachments.create(
        conn,
        caller,
        {
            'volume_uuid': volume['id'],
            'instance_uuid': wanted.get('instance_uuid'),
            'connector': connector,
            'mode': wanted.get('mode', 'rw'),
        },
    )
    attachments.complete(conn, caller, row['id'])


@action('os-detach', _WHICH, releases=True)
def detach(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Delete the attachment that the request names, or the only attachment of the volume."""
    known = records.attachments_of(conn, volume['id'])
    wanted_id = (wanted or {}).get('attachment_id')
    chosen = [row for row in known if wanted_id in (None, row['id'])]
    if len(chosen) > 1:
        raise records.invalid('attachment_id must be specified to detach one of several.')
    for row in chosen:
        attachments.delete(conn, caller, row['id'])


@action('os-force_detach', _WHICH, releases=True)
def force_detach(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Delete the attachment that the request names, or all attachments, in any status."""
    caller.require_admin('forcing a detachment')
    wanted_id = (wanted or {}).get('attachment_id')
    for row in records.attachments_of(conn, volume['id']):
        if wanted_id in (None, row['id']):
            attachments.delete(conn, caller, row['id'])


@action('os-initialize_connection', status=200)
def initialize_connection(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> bodies.Json:
    """Return the connection info of a volume without an attachment."""
    info = attachments.connection_info(conn, volume, None, 'rw')
    kind = info.pop('driver_volume_type')
    return {'connection_info': {'driver_volume_type': kind, 'data': info}}


@action('os-terminate_connection', releases=True)
def terminate_connection(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Do nothing: connections without an attachment are not stored."""


@action('os-set_bootable', bodies.record({'bootable': bodies.BOOLEAN}, ['bootable']), status=200)
def set_bootable(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Set whether a volume is bootable."""
    records.save(conn, volume, bootable=wanted['bootable'])


@action('os-update_readonly_flag', bodies.record({'readonly': bodies.BOOLEAN}, ['readonly']))
def update_readonly(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Set whether later attachments of an available volume are read-only."""
    records.require_status(volume, 'available')
    records.save(conn, volume, readonly=wanted['readonly'])


@action(
    'os-extend',
    bodies.record({'new_size': volumes.SIZE}, ['new_size']),
    in_use_since=42,
    event='volume-extended',
)
def extend(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Extend a volume that is available or in use."""
    records.require_status(volume, 'available', 'in-use')
    size = int(wanted['new_size'])
    if size <= volume['size']:
        raise faults.BadRequest(
            f'Invalid input received: New size for extend must be greater '
            f'than current size. (current: {volume["size"]}, extended: '
            f'{size}).'
        )
    quotas.require(conn, volume['project_id'], gigabytes=size - volume['size'])
    records.save(conn, volume, size=size)


@action('os-retype', bodies.record({'new_type': bodies.NAME}, ['new_type']))
def retype(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Change the type of a volume."""
    records.require_status(volume, 'available', 'in-use')
    if records.is_migrating(volume):
        raise records.invalid('Retype needs a volume that is not part of an active migration.')
    row = volume_types.find(conn, caller, wanted['new_type'])
    if row is None:
        raise faults.NotFound(f'Volume type {wanted["new_type"][:64]} could not be found.')
    if (
        volume['status'] == 'in-use'
        and volume_types.allows_multiattach(row) != volume['multiattach']
    ):
        raise records.invalid('multiattach cannot change while the volume is in use.')
    records.save(
        conn, volume, volume_type_id=row['id'], multiattach=volume_types.allows_multiattach(row)
    )


@action(
    'os-reset_status',
    bodies.record(
        {
            'status': {'type': 'string', 'minLength': 1, 'maxLength': 32},
            'attach_status': bodies.STRING,
            'migration_status': bodies.OPTIONAL_STRING,
        }
    ),
)
def reset_status(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Set the statuses of a volume on the request of an administrator."""
    caller.require_admin('resetting the status of a volume')
    if not any(wanted.get(name) for name in _RESETTABLE):
        raise faults.BadRequest(f'Must specify {" or ".join(_RESETTABLE)} in request body.')
    if wanted.get('status'):
        records.save(conn, volume, status=wanted['status'])
    if wanted.get('migration_status'):
        volume_migrations.reset(conn, volume, wanted['migration_status'])
    if wanted.get('attach_status') == 'detached':
        database.delete(conn, tables.attachments, volume_id=volume['id'])


@action('os-force_delete')
def force_delete(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Delete a volume in any status."""
    caller.require_admin('forcing the deletion of a volume')
    records.delete(conn, caller, volume['id'], cascade=True, force=True)


@action('os-set_image_metadata', _METADATA, status=200)
def set_image_metadata(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> bodies.Json:
    """Add keys to the image metadata of a volume. Return all of it."""
    merged = volume['image_metadata'] | wanted['metadata']
    records.save(conn, volume, image_metadata=merged)
    return {'metadata': merged}


@action('os-unset_image_metadata', bodies.record({'key': bodies.NAME}, ['key']), status=200)
def unset_image_metadata(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Delete a key of the image metadata of a volume."""
    if wanted['key'] not in volume['image_metadata']:
        raise faults.NotFound('Glance metadata for the volume cannot be found under this key.')
    kept = {
        name: known for name, known in volume['image_metadata'].items() if name != wanted['key']
    }
    records.save(conn, volume, image_metadata=kept)


@action('os-show_image_metadata', status=200)
def show_image_metadata(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json | None
) -> bodies.Json:
    """Return the image metadata of a volume."""
    return {'metadata': volume['image_metadata']}


@action('os-update_volume_admin_metadata', _METADATA, status=200)
def update_admin_metadata(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> bodies.Json:
    """Change the metadata that services store for a volume. Return all of it."""
    caller.require_privileged('changing admin metadata')
    merged = volume['admin_metadata'] | wanted['metadata']
    records.save(conn, volume, admin_metadata=merged)
    return {'metadata': merged}


@action(
    'os-reimage',
    bodies.record({'image_id': bodies.ID, 'reimage_reserved': bodies.BOOLEAN}, ['image_id']),
    since=68,
    event='volume-reimaged',
)
def reimage(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Replace the contents of a volume by another image."""
    states = ('available', 'error', *(('reserved',) if wanted.get('reimage_reserved') else ()))
    records.require_status(volume, *states)
    records.reimage(conn, volume, caller, wanted['image_id'])


ACTIONS |= {
    'os-migrate_volume': Action(
        run=volume_migrations.begin,
        body=bodies.compiled(volume_migrations.BODY),
        then=volume_migrations.ask,
    ),
    'os-migrate_volume_completion': Action(
        run=volume_migrations.complete,
        body=bodies.compiled(volume_migrations.COMPLETION),
        status=200,
    ),
}


class ActionResource:
    """Runs the action that the body names."""

    def __init__(self, db: database.Database, events: external_events.Sender) -> None:
        self._db = db
        self._events = events

    def on_post(self, req: web.Request, resp: falcon.Response, volume_id: str) -> None:
        ((name, wanted),) = bodies.read(req, BODY).items()
        if name not in ACTIONS:
            raise faults.BadRequest(f"There is no such action: '{name[:64]}'.")
        action = ACTIONS[name]
        microversions.require(req, action.since)
        bodies.check(wanted, action.body)
        caller = req.context.caller
        caller.require_writer()

        def run(conn: sa.Connection) -> bodies.Json | None:
            volume = records.get(conn, caller, volume_id)
            if req.context.minor < action.in_use_since:
                records.require_status(volume, 'available')
            return action.run(conn, caller, volume, wanted)

        if action.releases:
            self._check_release(caller, volume_id, wanted)
        answer = self._db.change(run)
        if action.then:
            action.then(self._db, self._events, volume_id)
        if action.event:
            with self._db.read() as conn:
                known = records.attachments_of(conn, volume_id)
            servers = [one['instance_uuid'] for one in known if one['instance_uuid']]
            self._events.send(action.event, [(server, volume_id) for server in servers])
        resp.status = action.status
        if answer is not None:
            resp.media = answer

    def _check_release(self, caller: callers.Caller, volume_id: str, wanted: object) -> None:
        named = wanted.get('attachment_id') if isinstance(wanted, dict) else None
        with self._db.read() as conn:
            records.get(conn, caller, volume_id)
            known = records.attachments_of(conn, volume_id)
        releases.check(caller, self._events, [row for row in known if named in (None, row['id'])])
