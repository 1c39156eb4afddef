"""/v3/qos-specs: limits for volumes of a type, for front ends and back ends to enforce."""

from collections.abc import Sequence
import dataclasses

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_types

SPECS, MEMBERS = tables.qos_specs, tables.qos_associations
BACK_END, BOTH = 'back-end', 'both'
CONSUMER = {'enum': ['front-end', BACK_END, BOTH]}
_VALUES = {'patternProperties': {'^[a-zA-Z0-9_:. -]{1,255}$': bodies.STRING}}


def _body(properties: bodies.Schema, required: Sequence[str] = ()) -> bodies.Validator:
    inner = bodies.record({'consumer': CONSUMER, **properties}, required, extra=False)
    return bodies.compiled(
        bodies.record({'qos_specs': inner | _VALUES}, ['qos_specs'], extra=False)
    )


CREATE = _body({'name': bodies.NAME}, ['name'])
UPDATE = _body({})
DELETE_KEYS = bodies.compiled(
    bodies.record({'keys': {**bodies.array(bodies.NAME), 'minItems': 1}}, ['keys'])
)


def view(row: database.Row) -> bodies.Json:
    """Return one specification; in the answer to an update, only the written keys."""
    return row.get('written') or {name: row[name] for name in ('id', 'name', 'consumer', 'specs')}


def get(conn: sa.Connection, _caller: callers.Caller, specs_id: str) -> database.Row:
    """Return the row of a specification. Raise NotFound."""
    row = database.find(conn, SPECS, id=specs_id)
    if row is None:
        raise faults.NotFound(f'No such QoS spec {specs_id[:64]}.')
    return row


def of_type(conn: sa.Connection, type_id: str) -> database.Row | None:
    """Return the row of the specification of a volume type, or None."""
    found = database.find(conn, MEMBERS, volume_type_id=type_id)
    return database.find(conn, SPECS, id=found['qos_specs_id']) if found else None


def for_front_end(conn: sa.Connection, type_id: str) -> dict[str, str] | None:
    """Return the specs that hosts must enforce for volumes of a type, or None."""
    row = of_type(conn, type_id)
    return row['specs'] if row and row['consumer'] != BACK_END else None


def create(conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a specification and return its row."""
    specs = dict(wanted)
    name, consumer = specs.pop('name'), specs.pop('consumer', BACK_END)
    if database.exists(conn, SPECS, name=name):
        raise faults.Conflict(f'QoS Specs {name} already exists.')
    return database.insert(conn, SPECS, name=name, consumer=consumer, specs=specs)


def update(
    conn: sa.Connection, caller: callers.Caller, specs_id: str, wanted: bodies.Json
) -> database.Row:
    """Add or change keys of a specification. Return the row, with `written` for the answer."""
    row = get(conn, caller, specs_id)
    added = {name: value for name, value in wanted.items() if name != 'consumer'}
    values = {'specs': row['specs'] | added, 'consumer': wanted.get('consumer', row['consumer'])}
    return {**database.save(conn, SPECS, row, **values), 'written': wanted}


def delete(conn: sa.Connection, caller: callers.Caller, specs_id: str, *, force: bool) -> None:
    """Delete a specification. force: also if volume types have the specification"""
    get(conn, caller, specs_id)
    if not force and database.exists(conn, MEMBERS, qos_specs_id=specs_id):
        raise faults.BadRequest(f'QoS Specs {specs_id} is still associated with entities.')
    database.delete(conn, MEMBERS, qos_specs_id=specs_id)
    database.delete(conn, SPECS, id=specs_id)


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    return storage.page_of(conn, req, SPECS, SPECS.select())


RESOURCE = resources.Resource(
    name='qos_specs',
    plural='qos_specs',
    style=dataclasses.replace(storage.STYLE, created=falcon.HTTP_200),
    permit=resources.admins('QoS specification'),
    listed=_listed,
    get=get,
    views=resources.each(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
    options=lambda req: {'force': paging.flag_of(req, 'force')},
)


def delete_keys(
    conn: sa.Connection, caller: callers.Caller, specs_id: str, keys: list[str]
) -> None:
    """Delete keys of a specification."""
    row = get(conn, caller, specs_id)
    for key in keys:
        if key not in row['specs']:
            raise faults.NotFound(f'QoS spec {specs_id} has no spec with key {key}.')
    kept = {name: value for name, value in row['specs'].items() if name not in keys}
    database.save(conn, SPECS, row, specs=kept)


def associate(conn: sa.Connection, caller: callers.Caller, specs_id: str, type_id: str) -> None:
    """Associate a specification with a volume type. Raise BadRequest if it has another one."""
    get(conn, caller, specs_id)
    kind = volume_types.get(conn, caller, type_id)
    known = of_type(conn, kind['id'])
    if known is None:
        database.insert(conn, MEMBERS, volume_type_id=kind['id'], qos_specs_id=specs_id)
    elif known['id'] != specs_id:
        raise faults.BadRequest(
            f'Invalid volume type: Type {kind["id"]} is already associated with another qos '
            f'specs: {known["id"]}'
        )


def disassociate(conn: sa.Connection, caller: callers.Caller, specs_id: str, type_id: str) -> None:
    """Remove a specification from a volume type."""
    get(conn, caller, specs_id)
    kind = volume_types.get(conn, caller, type_id)
    database.delete(conn, MEMBERS, volume_type_id=kind['id'], qos_specs_id=specs_id)


def disassociate_all(conn: sa.Connection, caller: callers.Caller, specs_id: str) -> None:
    """Remove a specification from all volume types."""
    get(conn, caller, specs_id)
    database.delete(conn, MEMBERS, qos_specs_id=specs_id)


class AssociationResource:
    """Changes keys and volume types of a specification; the latter by GET, as in Cinder."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _change(
        self,
        req: web.Request,
        resp: falcon.Response,
        function: resources.Change,
        *args: list[str] | str,
    ) -> None:
        req.context.caller.require_admin('changing a QoS specification')
        self._db.change(function, req.context.caller, *args)
        resp.status = falcon.HTTP_202

    def on_put_keys(self, req: web.Request, resp: falcon.Response, specs_id: str) -> None:
        self._change(req, resp, delete_keys, specs_id, bodies.read(req, DELETE_KEYS, 'keys'))

    def on_get_associations(self, req: web.Request, resp: falcon.Response, specs_id: str) -> None:
        req.context.caller.require_admin('listing the types of a QoS specification')
        kinds = tables.types
        with self._db.read() as conn:
            get(conn, req.context.caller, specs_id)
            joined = kinds.select().join(MEMBERS, MEMBERS.c.volume_type_id == kinds.c.id)
            query = joined.where(MEMBERS.c.qos_specs_id == specs_id).order_by(kinds.c.name)
            found = database.rows(conn, query)
        resp.media = {
            'qos_associations': [
                {'association_type': 'volume_type', 'id': row['id'], 'name': row['name']}
                for row in found
            ]
        }

    def _change_type(
        self,
        req: web.Request,
        resp: falcon.Response,
        function: resources.Change,
        specs_id: str,
    ) -> None:
        type_id = req.get_param('vol_type_id')
        if not type_id:
            raise faults.BadRequest('Volume Type id must not be None.')
        self._change(req, resp, function, specs_id, type_id)

    def on_get_associate(self, req: web.Request, resp: falcon.Response, specs_id: str) -> None:
        self._change_type(req, resp, associate, specs_id)

    def on_get_disassociate(self, req: web.Request, resp: falcon.Response, specs_id: str) -> None:
        self._change_type(req, resp, disassociate, specs_id)

    def on_get_disassociate_all(
        self, req: web.Request, resp: falcon.Response, specs_id: str
    ) -> None:
        self._change(req, resp, disassociate_all, specs_id)


def add(app: routing.App, db: database.Database, path: str) -> None:
    """Put the routes of specifications into `app`."""
    answers = AssociationResource(db)
    for name, suffix in (
        ('delete_keys', 'keys'),
        ('associations', 'associations'),
        ('associate', 'associate'),
        ('disassociate', 'disassociate'),
        ('disassociate_all', 'disassociate_all'),
    ):
        app.add_route(f'{path}/{{specs_id}}/{name}', answers, suffix=suffix)
