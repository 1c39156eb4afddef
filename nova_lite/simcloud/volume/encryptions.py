"""/v3/types/{id}/encryption: the encryption of volumes of a type.

The encryption of a type can only be created, changed or deleted while the type has no volumes. So
a volume is encrypted if its type is. There is no key manager: the id of a key is that of its
volume.
"""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_types

ENCRYPTIONS = tables.encryptions
SPECS = bodies.words('control_location cipher key_size provider')
_DIGITS = {'type': 'string', 'pattern': '^[0-9]{1,9}$'}
_PROPERTIES = {
    'provider': bodies.STRING,
    'control_location': {'enum': ['front-end', 'back-end']},
    'cipher': bodies.OPTIONAL_STRING,
    'key_size': bodies.nullable({'anyOf': [bodies.COUNT, _DIGITS]}),
}
CREATE = bodies.wrapped('encryption', _PROPERTIES, ['provider', 'control_location'], extra=True)
UPDATE = bodies.wrapped('encryption', _PROPERTIES, extra=True)


def find(conn: sa.Connection, type_id: str) -> database.Row | None:
    """Return the encryption of a type, or None."""
    return database.find(conn, ENCRYPTIONS, volume_type_id=type_id)


def types_with(conn: sa.Connection) -> set[str]:
    """Return the ids of the types that have an encryption."""
    return {row['volume_type_id'] for row in database.find_all(conn, ENCRYPTIONS)}


def _missing(type_id: str) -> faults.NotFound:
    return faults.NotFound(f'Volume type encryption for type {type_id[:64]} does not exist.')


def _unused(conn: sa.Connection, caller: callers.Caller, type_id: str, action: str) -> database.Row:
    """Return the row of a type. Raise NotFound, or BadRequest if volumes have the type."""
    row = volume_types.get(conn, caller, type_id)
    if database.exists(conn, tables.volumes, volume_type_id=row['id']):
        raise faults.BadRequest(f'Cannot {action} encryption specs. Volume type in use.')
    return row


def _values(wanted: bodies.Json) -> database.Row:
    values = {name: wanted[name] for name in SPECS if name in wanted}
    if values.get('key_size') is not None:
        values['key_size'] = int(values['key_size'])
    return values


def create(
    conn: sa.Connection, caller: callers.Caller, type_id: str, wanted: bodies.Json
) -> database.Row:
    """Create the encryption of a type. Return the values that the answer shows."""
    row = _unused(conn, caller, type_id, 'create')
    if find(conn, row['id']):
        raise faults.BadRequest(f'Volume type encryption for type {row["id"]} already exists.')
    values = _values(wanted)
    made = database.insert(conn, ENCRYPTIONS, **values, volume_type_id=row['id'])
    return {**values, **{name: made[name] for name in ('volume_type_id', 'encryption_id')}}


def update(
    conn: sa.Connection, caller: callers.Caller, type_id: str, wanted: bodies.Json
) -> dict[str, str]:
    """Change the encryption of a type. Return the values that the answer shows."""
    row = _unused(conn, caller, type_id, 'update')
    found, values = find(conn, row['id']), _values(wanted)
    if found is None:
        raise _missing(type_id)
    if values:
        database.save(conn, ENCRYPTIONS, found, **values)
    return values


def delete(conn: sa.Connection, caller: callers.Caller, type_id: str) -> None:
    """Delete the encryption of a type."""
    row = _unused(conn, caller, type_id, 'delete')
    if not database.delete(conn, ENCRYPTIONS, volume_type_id=row['id']):
        raise _missing(type_id)


def _view(row: database.Row) -> bodies.Json:
    times = {name: storage.stamp(row[name]) for name in ('created_at', 'updated_at')}
    if row['updated_at'] == row['created_at']:
        times['updated_at'] = None
    return {**row, **times, 'deleted_at': None, 'deleted': False}


class EncryptionResource:
    """The encryption of a type, for administrators. The id of the encryption is ignored."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _shown(self, req: web.Request, type_id: str) -> bodies.Json:
        req.context.caller.require_admin('showing the encryption of a volume type')
        with self._db.read() as conn:
            row = volume_types.get(conn, req.context.caller, type_id)
            found = find(conn, row['id'])
        return _view(found) if found else {}

    def _change(
        self, req: web.Request, function: resources.Change, *args: str | bodies.Json
    ) -> database.Row:
        caller = req.context.caller
        caller.require_admin('changing the encryption of a volume type')
        return self._db.change(function, caller, *args)

    def on_get(self, req: web.Request, resp: falcon.Response, type_id: str) -> None:
        resp.media = self._shown(req, type_id)

    def on_get_one(self, req: web.Request, resp: falcon.Response, type_id: str, key: str) -> None:
        found = self._shown(req, type_id)
        if key not in found:
            raise _missing(type_id)
        resp.media = {key: found[key]}

    def on_post(self, req: web.Request, resp: falcon.Response, type_id: str) -> None:
        wanted = bodies.read(req, CREATE, 'encryption')
        resp.media = {'encryption': self._change(req, create, type_id, wanted)}

    def on_put_one(self, req: web.Request, resp: falcon.Response, type_id: str, key: str) -> None:
        wanted = bodies.read(req, UPDATE, 'encryption')
        resp.media = {'encryption': self._change(req, update, type_id, wanted)}

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, type_id: str, key: str
    ) -> None:
        self._change(req, delete, type_id)
        resp.status = falcon.HTTP_202


class VolumeEncryption:
    """Answers GET /v3/volumes/{id}/encryption: data for a hypervisor to read the volume."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _shown(self, req: web.Request, volume_id: str) -> bodies.Json:
        with self._db.read() as conn:
            volume = records.get(conn, req.context.caller, volume_id)
            found = find(conn, volume['volume_type_id'])
        shown = {'encryption_key_id': volume['id'] if found else None}
        return shown | {name: found[name] for name in SPECS if found}

    def on_get(self, req: web.Request, resp: falcon.Response, volume_id: str) -> None:
        resp.media = self._shown(req, volume_id)

    def on_get_one(self, req: web.Request, resp: falcon.Response, volume_id: str, key: str) -> None:
        found = self._shown(req, volume_id)
        if key not in found:
            raise faults.NotFound(f'The volume has no encryption item {key[:64]}.')
        resp.media = found[key]


def add(app: routing.App, db: database.Database, v3: str) -> None:
    """Put the routes of encryptions into `app`."""
    for path, resource in (
        ('types/{type_id}', EncryptionResource(db)),
        ('volumes/{volume_id}', VolumeEncryption(db)),
    ):
        routing.add_crud(app, f'{v3}/{path}/encryption', resource, 'key')
