"""/v3/group_types: types of groups of volumes. There are no groups."""

import dataclasses

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import tables

TYPES = tables.group_types
_UPDATABLE = {
    'name': bodies.NAME,
    'description': bodies.OPTIONAL_STRING,
    'is_public': bodies.BOOLEAN,
}
CREATE = bodies.wrapped('group_type', {**_UPDATABLE, 'group_specs': metadata.SPECS}, ['name'])
UPDATE = bodies.wrapped('group_type', _UPDATABLE)


def view(req, row):
    """Return one type. Only administrators see its specs."""
    shown = {name: row[name] for name in ('id', 'name', 'description', 'is_public')}
    if req.context.caller.is_privileged:
        shown['group_specs'] = row['group_specs']
    return shown


def visible(caller):
    """Return the condition that the caller may use a type."""
    return sa.true() if caller.is_privileged else TYPES.c.is_public


def get(conn, caller, type_id):
    """Return one row. Raise NotFound."""
    row = database.find(conn, TYPES, visible(caller), id=type_id)
    if row is None:
        raise faults.NotFound(f'Group type {type_id[:64]} could not be found.')
    return row


def _require_free_name(conn, name, type_id=''):
    if database.exists(conn, TYPES, TYPES.c.id != type_id, name=name):
        raise faults.Conflict(f'Group Type {name} already exists.')


def create(conn, _caller, wanted):
    """Insert a type and return its row."""
    _require_free_name(conn, wanted['name'])
    return database.insert(conn, TYPES, **database.columns(TYPES, wanted))


def update(conn, caller, type_id, wanted):
    """Change a type and return its row."""
    row = get(conn, caller, type_id)
    _require_free_name(conn, wanted.get('name', row['name']), row['id'])
    return database.save(conn, TYPES, row, **database.columns(TYPES, wanted))


def delete(conn, caller, type_id):
    """Remove a type."""
    get(conn, caller, type_id)
    database.delete(conn, TYPES, id=type_id)


def _listed(conn, req):
    query = sa.select(TYPES).where(visible(req.context.caller))
    return database.rows(conn, query.order_by(TYPES.c.created_at, TYPES.c.name))


RESOURCE = resources.Resource(
    name='group_type',
    style=dataclasses.replace(
        storage.STYLE, collection=lambda _req, key, items: {key: items}, created=falcon.HTTP_202
    ),
    permit=resources.admins('group type', actions=resources.CHANGES),
    listed=_listed,
    get=get,
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)


def shown_specs(specs, caller):
    """Return the specs of a type, which only administrators may see."""
    caller.require_admin('listing group specs')
    return specs
