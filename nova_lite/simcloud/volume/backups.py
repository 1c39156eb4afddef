"""/v3/backups: backups of volumes, which can be restored to the same or to other volumes."""

import base64
import json

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views
from nova_lite.simcloud.volume import volume_metadata

BACKUPS = tables.backups
SERVICE, CONTAINER = 'simcloud', 'volumebackups'
FILTERS = ('name', 'status', 'volume_id')
# Microversions that added these attributes to the request for a backup.
SINCE = {'metadata': 43, 'availability_zone': 51}
_NAMES = {
    'name': bodies.OPTIONAL_STRING,
    'description': bodies.OPTIONAL_STRING,
    'metadata': bodies.nullable(volume_metadata.METADATA),
}
CREATE = bodies.wrapped(
    'backup',
    {
        **_NAMES,
        'volume_id': bodies.UUID,
        'snapshot_id': bodies.nullable(bodies.UUID),
        'container': bodies.OPTIONAL_STRING,
        'availability_zone': bodies.OPTIONAL_STRING,
        'incremental': bodies.BOOLEAN,
        'force': bodies.BOOLEAN,
    },
    ['volume_id'],
)
UPDATE = bodies.wrapped('backup', _NAMES)
RESTORE = bodies.wrapped(
    'restore', {'volume_id': bodies.nullable(bodies.UUID), 'name': bodies.OPTIONAL_STRING}
)
RESET, FORCE_DELETE = 'os-reset_status', 'os-force_delete'
_STATUS = bodies.record({'status': {'enum': ['available', 'error']}}, ['status'], extra=False)
ACTION = bodies.action({RESET: _STATUS, FORCE_DELETE: {}})
_TEXT = {'type': 'string', 'minLength': 1}
IMPORT = bodies.wrapped(
    'backup-record',
    {'backup_service': bodies.NAME, 'backup_url': _TEXT},
    ['backup_service', 'backup_url'],
)
RECORDED = {
    'id': bodies.UUID,
    'volume_id': bodies.UUID,
    'name': bodies.STRING,
    'description': bodies.OPTIONAL_STRING,
    'size': bodies.COUNT,
    'container': bodies.STRING,
    'availability_zone': bodies.STRING,
    'metadata': volume_metadata.METADATA,
    'bootable': bodies.BOOLEAN,
    'image_metadata': bodies.mapping(bodies.TEXT),
}
RECORD = bodies.compiled(bodies.record(RECORDED, list(RECORDED), extra=False))
SHOWN = bodies.words(
    'volume_id description status size container availability_zone snapshot_id object_count'
)


def brief(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one backup in GET /backups."""
    links = views.links(req, 'backups', row['id'])
    return {'id': row['id'], 'name': row['name'] or None, 'links': links}


def _detail(req: web.Request, row: database.Row, has_dependents: bool) -> bodies.Json:
    minor, caller = req.context.minor, req.context.caller
    shown = {
        **brief(req, row),
        **{name: row[name] for name in SHOWN},
        'fail_reason': None,
        'created_at': storage.stamp(row['created_at']),
        'updated_at': storage.stamp(row['updated_at']),
        'data_timestamp': storage.stamp(row['data_timestamp']),
        'is_incremental': row['parent_id'] is not None,
        'has_dependent_backups': has_dependents,
    }
    later = (
        (18, {'os-backup-project-attr:project_id': row['project_id']} if caller.is_admin else {}),
        (43, {'metadata': row['metadata']}),
        (56, {'user_id': row['user_id']}),
        (64, {'encryption_key_id': None}),
    )
    for since, added in later:
        if minor >= since:
            shown |= added
    return shown


def _details(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    dependents = database.grouped(conn, BACKUPS.c.parent_id, [row['id'] for row in found])
    return [_detail(req, row, row['id'] in dependents) for row in found]


def _invalid(reason: str) -> faults.BadRequest:
    return faults.BadRequest(f'Invalid backup: {reason}')


def _require_backable(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> database.Row | None:
    """Return the snapshot to back up; None for the volume itself. Raise BadRequest."""
    if volume['status'] not in ('available', 'in-use'):
        raise records.invalid(
            'Volume to be backed up must be available or in-use, but the current status is '
            f'"{volume["status"]}".'
        )
    if wanted.get('snapshot_id') is None:
        if volume['status'] == 'in-use' and not wanted.get('force'):
            raise records.invalid('Backing up an in-use volume must use the force flag.')
        return None
    snapshot = records.get_snapshot(conn, caller, wanted['snapshot_id'])
    if snapshot['volume_id'] != volume['id']:
        raise faults.BadRequest(
            f'Invalid snapshot: Snapshot {snapshot["id"]} is not of volume {volume["id"]}.'
        )
    if snapshot['status'] != 'available':
        raise faults.BadRequest(
            'Invalid snapshot: Snapshot to be backed up must be available, but the current '
            f'status is "{snapshot["status"]}".'
        )
    return snapshot


def _parent(conn: sa.Connection, volume: database.Row) -> str:
    """Return the id of the latest backup of a volume that an incremental backup can build on."""
    order = ('data_timestamp', 'created_at', 'id')
    of_volume = {'volume_id': volume['id'], 'project_id': volume['project_id']}
    known = database.find_all(conn, BACKUPS, **of_volume, status='available', order=order)
    if not known:
        raise _invalid('No backups available to do an incremental backup.')
    return str(known[-1]['id'])


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a backup. Return its row as it was at the start, with the status of the start."""
    volume = records.get(conn, caller, wanted['volume_id'])
    snapshot = _require_backable(conn, caller, volume, wanted)
    parent_id = _parent(conn, volume) if wanted.get('incremental') else None
    quotas.require(conn, volume['project_id'], backups=1, backup_gigabytes=volume['size'])
    row = database.insert(
        conn,
        BACKUPS,
        **records.taken_of(volume, caller, wanted),
        snapshot_id=snapshot and snapshot['id'],
        container=wanted.get('container') or CONTAINER,
        availability_zone=wanted.get('availability_zone') or volume['availability_zone'],
        parent_id=parent_id,
        **records.contents(volume),
    )
    taken_at = (snapshot or row)['created_at']
    database.save(conn, BACKUPS, row, status='available', data_timestamp=taken_at)
    return row


def update(
    conn: sa.Connection, caller: callers.Caller, backup_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a backup, or replace its metadata, and return its row."""
    row = records.get_backup(conn, caller, backup_id)
    if not wanted:
        raise faults.BadRequest('Missing updated keys in request body.')
    empty = {'name': '', 'metadata': {}}
    values = {name: value or empty.get(name) for name, value in wanted.items()}
    return database.save(conn, BACKUPS, row, **values)


def delete(
    conn: sa.Connection, caller: callers.Caller, backup_id: str, *, force: bool = False
) -> None:
    """Delete a backup without incremental backups that build on it. force: in any status"""
    row = records.get_backup(conn, caller, backup_id)
    if row['status'] not in ('available', 'error') and not force:
        raise _invalid('Backup status must be available or error')
    if database.exists(conn, BACKUPS, parent_id=backup_id):
        raise _invalid('Incremental backups exist for this backup.')
    database.delete(conn, BACKUPS, id=backup_id)


def restore(
    conn: sa.Connection, caller: callers.Caller, backup_id: str, wanted: bodies.Json
) -> database.Row:
    """Restore a backup to a volume, by default to a new volume. Return the row of the volume."""
    row = records.get_backup(conn, caller, backup_id)
    if row['status'] != 'available':
        raise _invalid('Backup status must be available')
    if wanted.get('volume_id') is None:
        new = {
            'name': wanted.get('name') or f'restore_backup_{backup_id}',
            'description': row['description'],
            'backup_id': backup_id,
        }
        return records.create(conn, caller, new)
    volume = records.get(conn, caller, wanted['volume_id'])
    if volume['status'] != 'available':
        raise records.invalid('Volume to be restored to must be available')
    if volume['size'] < row['size']:
        raise records.invalid(
            f'volume size {volume["size"]} is too small to restore backup of size {row["size"]}.'
        )
    return records.save(conn, volume, **records.contents(row))


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    return lists.listed(conn, req, BACKUPS, FILTERS)


def _prepared(req: web.Request, wanted: bodies.Json) -> database.Row:
    """Return the values of a request. Raise BadRequest for values of later microversions."""
    if req.method == 'PUT':
        microversions.require(req, 9)
    for name, since in SINCE.items():
        if name in wanted and req.context.minor < since:
            raise faults.BadRequest(
                f'Invalid input for backup: {name} needs microversion 3.{since}.'
            )
    return wanted


RESOURCE = resources.Resource(
    name='backup',
    style=lists.STYLE,
    listed=_listed,
    get=records.get_backup,
    views=_details,
    brief=resources.each_as_asked(brief),
    changed=resources.each_as_asked(brief),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
    prepare=_prepared,
)


def act(conn: sa.Connection, caller: callers.Caller, backup_id: str, action: bodies.Json) -> None:
    """Set the status of a backup, or delete the backup in any status."""
    ((name, wanted),) = action.items()
    if name == FORCE_DELETE:
        caller.require_admin('forcing the deletion of a backup')
        delete(conn, caller, backup_id, force=True)
        return
    caller.require_admin('resetting the status of a backup')
    row = records.get_backup(conn, caller, backup_id)
    database.save(conn, BACKUPS, row, status=wanted['status'])


def _recorded(text: str) -> database.Row:
    """Return the values of an exported record (`on_get_export`). Raise BadRequest."""
    try:
        values: database.Row = bodies.decoded(base64.b64decode(text, validate=True))
    except ValueError as error:
        raise faults.BadRequest("Invalid input received: Can't parse backup record.") from error
    bodies.check(values, RECORD)
    return values


def insert_record(
    conn: sa.Connection, caller: callers.Caller, values: database.Row
) -> database.Row:
    """Insert a backup from the values of an exported record. Return its row."""
    if database.exists(conn, BACKUPS, id=values['id']):
        raise _invalid('Backup already exists in database.')
    owner = {'project_id': caller.owner_for(None), 'user_id': caller.user_id}
    row = database.insert(conn, BACKUPS, **values, **owner, status='available')
    return database.save(conn, BACKUPS, row, data_timestamp=row['created_at'])


class BackupResource:
    """Actions on backups."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_post_action(self, req: web.Request, resp: falcon.Response, backup_id: str) -> None:
        self._db.change(act, req.context.caller, backup_id, bodies.read(req, ACTION))
        resp.status = falcon.HTTP_202

    def on_post_restore(self, req: web.Request, resp: falcon.Response, backup_id: str) -> None:
        wanted = bodies.read(req, RESTORE, 'restore')
        req.context.caller.require_writer()
        volume = self._db.change(restore, req.context.caller, backup_id, wanted)
        resp.status = falcon.HTTP_202
        resp.media = {
            'restore': {
                'backup_id': backup_id,
                'volume_id': volume['id'],
                'volume_name': volume['name'],
            }
        }

    def on_get_export(self, req: web.Request, resp: falcon.Response, backup_id: str) -> None:
        req.context.caller.require_admin('exporting the record of a backup')
        with self._db.read() as conn:
            row = records.get_backup(conn, req.context.caller, backup_id)
        if row['status'] != 'available':
            raise _invalid(f'Backup status must be available and not {row["status"]}.')
        text = json.dumps({name: row[name] for name in RECORDED})
        record = {'backup_service': SERVICE, 'backup_url': base64.b64encode(text.encode()).decode()}
        resp.media = {'backup-record': record}

    def on_post_import(self, req: web.Request, resp: falcon.Response) -> None:
        req.context.caller.require_admin('importing the record of a backup')
        wanted = bodies.read(req, IMPORT, 'backup-record')
        row = self._db.change(insert_record, req.context.caller, _recorded(wanted['backup_url']))
        resp.status = falcon.HTTP_201
        resp.media = {'backup': brief(req, row)}


def add(app: routing.App, db: database.Database, path: str) -> None:
    """Put the routes of BackupResource into `app`."""
    answers = BackupResource(db)
    app.add_route(f'{path}/import_record', answers, suffix='import')
    for name, suffix in (('action', 'action'), ('restore', 'restore'), ('export_record', 'export')):
        app.add_route(f'{path}/{{backup_id}}/{name}', answers, suffix=suffix)
