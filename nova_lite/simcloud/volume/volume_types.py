"""/v3/types: volume types, public or with an access list of projects."""

import falcon
import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import named_types
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_metadata

TYPES, MEMBERS = tables.types, tables.qos_associations
KIND = 'Volume'
DEFAULT_NAME = '__DEFAULT__'
ACCESS = 'os-volume-type-access:is_public'
MULTIATTACH = '<is> True'

_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.OPTIONAL_STRING,
    'extra_specs': volume_metadata.SPECS,
    ACCESS: bodies.BOOLEAN,
    'is_public': bodies.BOOLEAN,
}
CREATE = bodies.wrapped('volume_type', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('volume_type', _PROPERTIES)


def _view(caller: callers.Caller, row: database.Row, qos_specs_id: str | None) -> bodies.Json:
    """Return one type. Only administrators see its QoS specification."""
    shown = {
        **{name: row[name] for name in named_types.SHOWN},
        ACCESS: row['is_public'],
        'extra_specs': volume_metadata.shown_specs(row['extra_specs'], caller),
    }
    return {**shown, 'qos_specs_id': qos_specs_id} if caller.is_privileged else shown


def _views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    known = database.grouped(conn, MEMBERS.c.volume_type_id, [row['id'] for row in found])
    ids = {type_id: row['qos_specs_id'] for type_id, (row,) in known.items()}
    return [_view(req.context.caller, row, ids.get(row['id'])) for row in found]


def _changed(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return types in the form of the answers to a creation and to an update."""
    hidden = ('qos_specs_id', *((ACCESS,) if req.method == 'PUT' else ()))
    shown = _views(conn, req, found)
    return [{k: v for k, v in each.items() if k not in hidden} for each in shown]


def _visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may use a type: if public, or by its access list."""
    lists = tables.type_access
    listed = sa.select(lists.c.volume_type_id).where(lists.c.project_id == caller.project_id)
    return sa.or_(named_types.visible(TYPES, caller), TYPES.c.id.in_(listed))


def find(conn: sa.Connection, caller: callers.Caller, name_or_id: str) -> database.Row | None:
    """Return a usable type by id or name, or None."""
    called = sa.or_(TYPES.c.id == name_or_id, TYPES.c.name == name_or_id)
    return database.find(conn, TYPES, _visible(caller), called)


def get(conn: sa.Connection, caller: callers.Caller, type_id: str) -> database.Row:
    """Return the row of a type by id or name; 'default' is the default type. Raise NotFound."""
    name = DEFAULT_NAME if type_id == 'default' else type_id
    row = find(conn, caller, name)
    if row is None:
        raise faults.NotFound(f'Volume type {type_id[:64]} could not be found.')
    return row


def allows_multiattach(row: database.Row) -> bool:
    """Return whether volumes of the type may be attached more than once."""
    return bool(row['extra_specs'].get('multiattach') == MULTIATTACH)


def _is_public(wanted: bodies.Json, default: bool) -> bool:
    known = {'is_public': default, **wanted}
    return bool(known[ACCESS if ACCESS in known else 'is_public'])


def create(
    conn: sa.Connection, _caller: callers.Caller | None, wanted: bodies.Json
) -> database.Row:
    """Insert a type from a request's values and return its row."""
    named_types.require_free_name(conn, TYPES, wanted['name'], kind=KIND)
    return database.insert(
        conn,
        TYPES,
        name=wanted['name'],
        description=wanted.get('description'),
        is_public=_is_public(wanted, True),
        extra_specs=wanted.get('extra_specs', {}),
    )


def update(
    conn: sa.Connection, caller: callers.Caller, type_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a type and return its row."""
    row = get(conn, caller, type_id)
    values: database.Row = {
        'name': wanted.get('name', row['name']),
        'description': wanted.get('description', row['description']),
        'is_public': _is_public(wanted, row['is_public']),
    }
    named_types.require_free_name(conn, TYPES, values['name'], kind=KIND, type_id=row['id'])
    return database.save(conn, TYPES, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, type_id: str) -> None:
    """Delete a type. Raise BadRequest if a volume has the type."""
    row = get(conn, caller, type_id)
    used = database.exists(conn, tables.volumes, volume_type_id=row['id'])
    if used or row['name'] == DEFAULT_NAME:
        raise faults.BadRequest(f'Target volume type {row["name"]} is still in use.')
    for table in (MEMBERS, tables.type_access, tables.encryptions):
        database.delete(conn, table, volume_type_id=row['id'])
    database.delete(conn, TYPES, id=row['id'])


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    conditions = [_visible(req.context.caller)]
    public = req.get_param('is_public')
    if public not in (None, 'None', 'none'):
        conditions.append(TYPES.c.is_public == paging.boolean(public, 'is_public'))
    return named_types.listed(conn, TYPES, *conditions)


RESOURCE = resources.Resource(
    name='volume_type',
    style=named_types.style(falcon.HTTP_200),
    permit=resources.admins('volume type', actions=resources.CHANGES),
    listed=_listed,
    get=get,
    views=_views,
    changed=_changed,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
