"""/v3/group_types: types of groups of volumes. Groups of volumes are not simulated."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import named_types
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_metadata

TYPES = tables.group_types
KIND = 'Group'
_UPDATABLE = {
    'name': bodies.NAME,
    'description': bodies.OPTIONAL_STRING,
    'is_public': bodies.BOOLEAN,
}
CREATE = bodies.wrapped(
    'group_type', {**_UPDATABLE, 'group_specs': volume_metadata.SPECS}, ['name']
)
UPDATE = bodies.wrapped('group_type', _UPDATABLE)


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one type. Only administrators see its specs."""
    shown = {name: row[name] for name in named_types.SHOWN}
    if req.context.caller.is_privileged:
        shown['group_specs'] = row['group_specs']
    return shown


def get(conn: sa.Connection, caller: callers.Caller, type_id: str) -> database.Row:
    """Return the row of a group type. Raise NotFound."""
    row = database.find(conn, TYPES, named_types.visible(TYPES, caller), id=type_id)
    if row is None:
        raise faults.NotFound(f'Group type {type_id[:64]} could not be found.')
    return row


def create(conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a type and return its row."""
    named_types.require_free_name(conn, TYPES, wanted['name'], kind=KIND)
    return database.insert(conn, TYPES, **database.columns(TYPES, wanted))


def update(
    conn: sa.Connection, caller: callers.Caller, type_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a type and return its row."""
    row = get(conn, caller, type_id)
    name = (row | wanted)['name']
    named_types.require_free_name(conn, TYPES, name, kind=KIND, type_id=row['id'])
    return database.save(conn, TYPES, row, **database.columns(TYPES, wanted))


def delete(conn: sa.Connection, caller: callers.Caller, type_id: str) -> None:
    """Remove a type."""
    get(conn, caller, type_id)
    database.delete(conn, TYPES, id=type_id)


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    return named_types.listed(conn, TYPES, named_types.visible(TYPES, req.context.caller))


RESOURCE = resources.Resource(
    name='group_type',
    style=named_types.style(falcon.HTTP_202),
    permit=resources.admins('group type', actions=resources.CHANGES),
    listed=_listed,
    get=get,
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)


def shown_specs(specs: dict[str, str], caller: callers.Caller) -> dict[str, str]:
    """Return the specs of a type, which only administrators may see."""
    caller.require_admin('listing group specs')
    return specs
