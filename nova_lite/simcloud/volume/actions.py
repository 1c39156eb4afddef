"""POST /v3/volumes/{id}/action: one function for each action."""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud.volume import attachments
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import microversion
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import releases
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import types
from nova_lite.simcloud.volume import volumes

_NOTHING = {'anyOf': [{'type': 'object'}, {'type': 'null'}, {'const': ''}]}
_METADATA = {
    'type': 'object',
    'required': ['metadata'],
    'properties': {'metadata': metadata.METADATA},
}


def reserve(conn, caller, volume, wanted):
    """Keep an available volume for somebody."""
    records.require_status(volume, 'available')
    records.save(conn, volume, status='reserved')


def unreserve(conn, caller, volume, wanted):
    """Undo `reserve`."""
    records.settle(conn, volume)


def begin_detaching(conn, caller, volume, wanted):
    """A volume in use is about to be detached."""
    records.require_status(volume, 'in-use')
    records.save(conn, volume, status='detaching')


def roll_detaching(conn, caller, volume, wanted):
    """The detaching did not happen."""
    if volume['status'] == 'detaching':
        records.settle(conn, volume)


def attach(conn, caller, volume, wanted):
    """Attach in one step, as clients without attachments of their own do."""
    connector = {
        'host': wanted.get('host_name') or '',
        'mountpoint': wanted.get('mountpoint'),
        'mode': wanted.get('mode', 'rw'),
    }
    row = attachments.create(
        conn,
        caller,
        {
            'volume_uuid': volume['id'],
            'instance_uuid': wanted.get('instance_uuid'),
            'connector': connector,
        },
    )
    attachments.complete(conn, caller, row['id'])


def detach(conn, caller, volume, wanted):
    """Remove the named attachment, or the only one."""
    known = records.attachments_of(conn, volume['id'])
    wanted_id = (wanted or {}).get('attachment_id')
    chosen = [row for row in known if wanted_id in (None, row['id'])]
    if len(chosen) > 1:
        raise records.invalid('attachment_id must be specified to detach one of several.')
    for row in chosen:
        attachments.delete(conn, caller, row['id'])


def force_detach(conn, caller, volume, wanted):
    """Remove the named attachment, or all of them, whatever the state."""
    caller.require_admin('forcing a detachment')
    wanted_id = (wanted or {}).get('attachment_id')
    for row in records.attachments_of(conn, volume['id']):
        if wanted_id in (None, row['id']):
            attachments.delete(conn, caller, row['id'])


def initialize_connection(conn, caller, volume, wanted):
    """Where the volume could be reached."""
    info = attachments.connection_info({'id': None, 'volume_id': volume['id']}, 'rw')
    kind = info.pop('driver_volume_type')
    return {'connection_info': {'driver_volume_type': kind, 'data': info}}


def terminate_connection(conn, caller, volume, wanted):
    """There was no connection outside of attachments."""


def set_bootable(conn, caller, volume, wanted):
    """Mark or unmark as bootable."""
    records.save(conn, volume, bootable=wanted['bootable'])


def update_readonly(conn, caller, volume, wanted):
    """Later attachments are read-only, or not."""
    records.require_status(volume, 'available')
    records.save(conn, volume, readonly=wanted['readonly'])


def extend(conn, caller, volume, wanted):
    """Make larger, also in use."""
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


def retype(conn, caller, volume, wanted):
    """Give another type."""
    records.require_status(volume, 'available', 'in-use')
    row = types.find(conn, caller, wanted['new_type'])
    if row is None:
        raise faults.NotFound(f'Volume type {wanted["new_type"][:64]} could not be found.')
    if volume['status'] == 'in-use' and types.allows_multiattach(row) != volume['multiattach']:
        raise records.invalid('multiattach cannot change while the volume is in use.')
    records.save(conn, volume, volume_type_id=row['id'], multiattach=types.allows_multiattach(row))


def reset_status(conn, caller, volume, wanted):
    """Write the state as an administrator says."""
    caller.require_admin('resetting the status of a volume')
    if wanted.get('status'):
        records.save(conn, volume, status=wanted['status'])
    if 'migration_status' in wanted:
        merged = volume['admin_metadata'] | {tables.MIGRATION: wanted['migration_status']}
        records.save(conn, volume, admin_metadata=merged)
    if wanted.get('attach_status') == 'detached':
        table = tables.attachments
        conn.execute(table.delete().where(table.c.volume_id == volume['id']))


def force_delete(conn, caller, volume, wanted):
    """Remove whatever the state."""
    caller.require_admin('forcing the deletion of a volume')
    records.delete(conn, caller, volume['id'], cascade=True, force=True)


def set_image_metadata(conn, caller, volume, wanted):
    """Add to what the volume remembers of its image."""
    merged = volume['image_metadata'] | wanted['metadata']
    records.save(conn, volume, image_metadata=merged)
    return {'metadata': merged}


def unset_image_metadata(conn, caller, volume, wanted):
    """Forget one of these."""
    if wanted['key'] not in volume['image_metadata']:
        raise faults.NotFound('Glance metadata for the volume cannot be found under this key.')
    records.save(
        conn,
        volume,
        image_metadata={
            name: value for name, value in volume['image_metadata'].items() if name != wanted['key']
        },
    )


def show_image_metadata(conn, caller, volume, wanted):
    """All that the volume remembers of its image."""
    return {'metadata': volume['image_metadata']}


def update_admin_metadata(conn, caller, volume, wanted):
    """Notes of services about a volume."""
    caller.require_privileged('changing admin metadata')
    merged = volume['admin_metadata'] | wanted['metadata']
    records.save(conn, volume, admin_metadata=merged)
    return {'metadata': merged}


def reimage(conn, caller, volume, wanted):
    """Write another image onto the volume."""
    states = ('available', 'error', *(('reserved',) if wanted.get('reimage_reserved') else ()))
    records.require_status(volume, *states)
    records.reimage(conn, volume, caller, wanted['image_id'])


def complete_migration(conn, caller, volume, wanted):
    """A swap that the compute service made by itself: the new volume is the one to keep."""
    records.get(conn, caller, wanted['new_volume'])
    ended = volume['admin_metadata'] | {tables.MIGRATION: None}
    records.save(conn, volume, admin_metadata=ended)
    return {'save_volume_id': wanted['new_volume']}


def _object(required, **properties):
    return {'type': 'object', 'required': required, 'properties': properties}


_WHICH = bodies.nullable(_object([], attachment_id=bodies.nullable(bodies.ID)))

# name: (function, schema of its value, status of success)
ACTIONS = {
    'os-reserve': (reserve, _NOTHING, 202),
    'os-unreserve': (unreserve, _NOTHING, 202),
    'os-begin_detaching': (begin_detaching, _NOTHING, 202),
    'os-roll_detaching': (roll_detaching, _NOTHING, 202),
    'os-attach': (
        attach,
        _object(
            [],
            instance_uuid=bodies.nullable(bodies.ID),
            mountpoint=bodies.STRING,
            host_name=bodies.nullable(bodies.STRING),
            mode=attachments.MODE,
        ),
        202,
    ),
    'os-detach': (detach, _WHICH, 202),
    'os-force_detach': (force_detach, _WHICH, 202),
    'os-initialize_connection': (initialize_connection, _NOTHING, 200),
    'os-terminate_connection': (terminate_connection, _NOTHING, 202),
    'os-set_bootable': (set_bootable, _object(['bootable'], bootable=bodies.BOOLEAN), 200),
    'os-update_readonly_flag': (
        update_readonly,
        _object(['readonly'], readonly=bodies.BOOLEAN),
        202,
    ),
    'os-extend': (extend, _object(['new_size'], new_size=volumes.SIZE), 202),
    'os-retype': (retype, _object(['new_type'], new_type=bodies.NAME), 202),
    'os-reset_status': (
        reset_status,
        _object(
            [],
            status={'type': 'string', 'minLength': 1, 'maxLength': 32},
            attach_status=bodies.STRING,
            migration_status=bodies.nullable(bodies.STRING),
        ),
        202,
    ),
    'os-force_delete': (force_delete, _NOTHING, 202),
    'os-set_image_metadata': (set_image_metadata, _METADATA, 200),
    'os-unset_image_metadata': (unset_image_metadata, _object(['key'], key=bodies.NAME), 200),
    'os-show_image_metadata': (show_image_metadata, _NOTHING, 200),
    'os-update_volume_admin_metadata': (update_admin_metadata, _METADATA, 200),
    'os-reimage': (
        reimage,
        _object(['image_id'], image_id=bodies.ID, reimage_reserved=bodies.BOOLEAN),
        202,
    ),
    'os-migrate_volume_completion': (
        complete_migration,
        _object(['new_volume'], new_volume=bodies.ID),
        200,
    ),
}
# Actions that came with a microversion.
SINCE = {'os-reimage': 68}
RELEASING = ('os-detach', 'os-force_detach', 'os-terminate_connection')
# What the servers of the volume must hear of.
EVENTS = {'os-extend': 'volume-extended', 'os-reimage': 'volume-reimaged'}
VALIDATORS = {name: bodies.compiled(schema) for name, (_, schema, _) in ACTIONS.items()}
BODY = bodies.compiled({'type': 'object', 'minProperties': 1, 'maxProperties': 1})


class ActionResource:
    """Runs the action that the body names."""

    def __init__(self, db, events):
        self._db = db
        self._events = events

    def on_post(self, req, resp, volume_id):
        ((name, wanted),) = bodies.read(req, BODY).items()
        if name not in ACTIONS:
            raise faults.BadRequest(f"There is no such action: '{name[:64]}'.")
        microversion.require(req, SINCE.get(name, 0))
        bodies.check(wanted, VALIDATORS[name])
        function, _, status = ACTIONS[name]
        caller = req.context.caller
        caller.require_writer()

        def run(conn):
            volume = records.get(conn, caller, volume_id)
            return function(conn, caller, volume, wanted)

        if name in RELEASING:
            self._check_release(caller, volume_id, wanted)
        answer = self._db.change(run)
        if name in EVENTS:
            with self._db.read() as conn:
                known = records.attachments_of(conn, volume_id)
            self._events.send(
                EVENTS[name],
                [(one['instance_uuid'], volume_id) for one in known if one['instance_uuid']],
            )
        resp.status = status
        if answer is not None:
            resp.media = answer

    def _check_release(self, caller, volume_id, wanted):
        named = wanted.get('attachment_id') if isinstance(wanted, dict) else None
        with self._db.read() as conn:
            records.get(conn, caller, volume_id)
            known = records.attachments_of(conn, volume_id)
        releases.check(caller, self._events, [row for row in known if named in (None, row['id'])])
