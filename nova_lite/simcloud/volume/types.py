"""/v3/types: volume types and their extra specs."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.volume import tables

TYPES = tables.types
DEFAULT_NAME = '__DEFAULT__'
MULTIATTACH = '<is> True'

SPECS = {
    'type': 'object',
    'additionalProperties': bodies.nullable(bodies.STRING),
    'propertyNames': {'minLength': 1, 'maxLength': 255},
}
_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.nullable(bodies.STRING),
    'extra_specs': SPECS,
    'os-volume-type-access:is_public': bodies.BOOLEAN,
    'is_public': bodies.BOOLEAN,
}
CREATE = bodies.wrapped('volume_type', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('volume_type', _PROPERTIES)
CREATE_SPECS = bodies.wrapped('extra_specs', {}, extra=SPECS['additionalProperties'])
UPDATE_SPEC = bodies.compiled({**SPECS, 'minProperties': 1, 'maxProperties': 1})


def view(row, caller):
    """One type; extra specs that are not for users stay with the privileged."""
    specs = row['extra_specs']
    if not caller.is_privileged:
        specs = {name: value for name, value in specs.items() if name == 'multiattach'}
    return {
        'id': row['id'],
        'name': row['name'],
        'description': row['description'],
        'is_public': row['is_public'],
        'os-volume-type-access:is_public': row['is_public'],
        'qos_specs_id': None,
        'extra_specs': specs,
    }


def visible(caller):
    """The condition that a type is the caller's to use."""
    return sa.true() if caller.is_privileged else TYPES.c.is_public


def find(conn, caller, name_or_id):
    """A usable type by id or name, or None."""
    return database.one(
        conn,
        sa.select(TYPES).where(
            visible(caller), sa.or_(TYPES.c.id == name_or_id, TYPES.c.name == name_or_id)
        ),
    )


def get(conn, caller, type_id):
    """One row; NotFound otherwise."""
    name = DEFAULT_NAME if type_id == 'default' else type_id
    row = find(conn, caller, name)
    if row is None:
        raise faults.NotFound(f'Volume type {type_id[:64]} could not be found.')
    return row


def allows_multiattach(row):
    """Whether volumes of the type may be attached more than once."""
    return row['extra_specs'].get('multiattach') == MULTIATTACH


def _is_public(wanted, default):
    return wanted.get('os-volume-type-access:is_public', wanted.get('is_public', default))


def _require_free_name(conn, name, type_id=None):
    same = database.one(conn, sa.select(TYPES.c.id).where(TYPES.c.name == name))
    if same and same['id'] != type_id:
        raise faults.Conflict(f'Volume Type {name} already exists.')


def create(conn, wanted):
    """Insert a type from a request's values and return its row."""
    _require_free_name(conn, wanted['name'])
    row = {
        'id': runtime.new_uuid(),
        'name': wanted['name'],
        'description': wanted.get('description'),
        'is_public': _is_public(wanted, True),
        'extra_specs': wanted.get('extra_specs', {}),
        'created_at': runtime.naive_now(),
    }
    conn.execute(TYPES.insert().values(**row))
    return row


def update(conn, caller, type_id, wanted):
    """Change a type and return its row."""
    row = get(conn, caller, type_id)
    values = {
        'name': wanted.get('name', row['name']),
        'description': wanted.get('description', row['description']),
        'is_public': _is_public(wanted, row['is_public']),
    }
    _require_free_name(conn, values['name'], row['id'])
    conn.execute(TYPES.update().where(TYPES.c.id == row['id']).values(**values))
    return {**row, **values}


def delete(conn, caller, type_id):
    """Remove a type that no volume has."""
    row = get(conn, caller, type_id)
    volumes = tables.volumes
    used = conn.execute(
        sa.select(volumes.c.id).where(volumes.c.volume_type_id == row['id']).limit(1)
    ).first()
    if used or row['name'] == DEFAULT_NAME:
        raise faults.BadRequest(f'Target volume type {row["name"]} is still in use.')
    conn.execute(TYPES.delete().where(TYPES.c.id == row['id']))


def change_specs(conn, caller, type_id, changed):
    """Replace the extra specs by changed(specs) and return them."""
    row = get(conn, caller, type_id)
    specs = changed(dict(row['extra_specs']))
    conn.execute(TYPES.update().where(TYPES.c.id == row['id']).values(extra_specs=specs))
    return specs


class TypeResource:
    """Everyone looks, administrators change."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        caller = req.context.caller
        query = sa.select(TYPES).where(visible(caller)).order_by(TYPES.c.created_at, TYPES.c.name)
        public = req.get_param('is_public')
        if public not in (None, 'None', 'none'):
            query = query.where(TYPES.c.is_public == listing.boolean(public, 'is_public'))
        with self._db.read() as conn:
            found = database.rows(conn, query)
        resp.media = {'volume_types': [view(row, caller) for row in found]}

    def on_post(self, req, resp):
        req.context.caller.require_admin('creating a volume type')
        row = self._db.change(create, bodies.read(req, CREATE, 'volume_type'))
        resp.media = {'volume_type': view(row, req.context.caller)}

    def on_get_one(self, req, resp, type_id):
        with self._db.read() as conn:
            row = get(conn, req.context.caller, type_id)
        resp.media = {'volume_type': view(row, req.context.caller)}

    def on_put_one(self, req, resp, type_id):
        req.context.caller.require_admin('changing a volume type')
        row = self._db.change(
            update, req.context.caller, type_id, bodies.read(req, UPDATE, 'volume_type')
        )
        resp.media = {'volume_type': view(row, req.context.caller)}

    def on_delete_one(self, req, resp, type_id):
        req.context.caller.require_admin('deleting a volume type')
        self._db.change(delete, req.context.caller, type_id)
        resp.status = falcon.HTTP_202


class SpecResource:
    """/v3/types/{id}/extra_specs."""

    def __init__(self, db):
        self._db = db

    def _change(self, req, type_id, changed):
        req.context.caller.require_admin('changing extra specs')
        return self._db.change(change_specs, req.context.caller, type_id, changed)

    def on_get(self, req, resp, type_id):
        with self._db.read() as conn:
            row = get(conn, req.context.caller, type_id)
        resp.media = {'extra_specs': view(row, req.context.caller)['extra_specs']}

    def on_post(self, req, resp, type_id):
        added = bodies.read(req, CREATE_SPECS, 'extra_specs')
        self._change(req, type_id, lambda specs: specs | added)
        resp.media = {'extra_specs': added}

    def on_get_one(self, req, resp, type_id, key):
        with self._db.read() as conn:
            specs = get(conn, req.context.caller, type_id)['extra_specs']
        if key not in specs:
            raise faults.NotFound(
                f'Volume Type {type_id[:64]} has no extra specs with key {key[:255]}.'
            )
        resp.media = {key: specs[key]}

    def on_put_one(self, req, resp, type_id, key):
        wanted = bodies.read(req, UPDATE_SPEC)
        if key not in wanted:
            raise faults.BadRequest('Request body and URI mismatch')
        self._change(req, type_id, lambda specs: specs | wanted)
        resp.media = wanted

    @staticmethod
    def _without(specs, key):
        if key not in specs:
            raise faults.NotFound(f'The volume type has no extra specs with key {key[:255]}.')
        del specs[key]
        return specs

    def on_delete_one(self, req, resp, type_id, key):
        self._change(req, type_id, lambda specs: self._without(specs, key))
        resp.status = falcon.HTTP_202
