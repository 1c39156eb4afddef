"""/v3/domains."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

DEFAULT_ID = 'default'

_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.nullable(bodies.TEXT),
    'enabled': bodies.BOOLEAN,
    'options': {'type': 'object'},
    'tags': {'type': 'array', 'items': bodies.STRING},
}
CREATE = bodies.wrapped('domain', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('domain', _PROPERTIES)


def view(req, row):
    """One domain."""
    return {**row, 'options': {}, 'tags': [], 'links': views.links(req, f'domains/{row["id"]}')}


def collection(req, found):
    """A list of domains."""
    return views.collection(req, 'domains', [view(req, row) for row in found])


def enabled_for(conn, ids):
    """The enabled domains among `ids`, by name."""
    table = tables.domains
    return database.rows(
        conn, sa.select(table).where(table.c.id.in_(ids), table.c.enabled).order_by(table.c.name)
    )


def get(conn, domain_id):
    """One row; NotFound otherwise."""
    row = tables.find(conn, tables.domains, id=domain_id)
    if row is None:
        raise faults.NotFound(f'Could not find domain: {domain_id[:64]}.')
    return row


def create(conn, *, name, domain_id=None, description='', enabled=True):
    """Insert a domain and return its row; Conflict when the name is taken."""
    if tables.find(conn, tables.domains, name=name):
        raise faults.Conflict(
            f'Conflict occurred attempting to store domain - it is not '
            f'permitted to have two with the name {name}.'
        )
    row = {
        'id': domain_id or runtime.new_uuid().replace('-', ''),
        'name': name,
        'description': description or '',
        'enabled': enabled,
    }
    conn.execute(tables.domains.insert().values(**row))
    tables.touch(conn)
    return row


def update(conn, domain_id, values):
    """Change a domain and return its row."""
    row = get(conn, domain_id)
    same = tables.find(conn, tables.domains, name=values.get('name', row['name']))
    if same and same['id'] != domain_id:
        raise faults.Conflict(f'Another domain has the name {same["name"]}.')
    conn.execute(
        tables.domains.update().where(tables.domains.c.id == domain_id).values(**{**row, **values})
    )
    tables.touch(conn)
    return get(conn, domain_id)


def delete(conn, domain_id):
    """Remove a disabled domain with its users, projects and assignments."""
    if get(conn, domain_id)['enabled']:
        raise faults.Forbidden('Cannot delete a domain that is enabled, please disable it first.')
    for kind, table in ((tables.PROJECT, tables.projects), (None, tables.users)):
        for row in database.rows(conn, sa.select(table.c.id).where(table.c.domain_id == domain_id)):
            matching = (
                {'target_kind': kind, 'target_id': row['id']} if kind else {'user_id': row['id']}
            )
            grants.revoke(conn, **matching)
        conn.execute(table.delete().where(table.c.domain_id == domain_id))
    for kind in (tables.DOMAIN, tables.INHERITED):
        grants.revoke(conn, target_kind=kind, target_id=domain_id)
    conn.execute(tables.domains.delete().where(tables.domains.c.id == domain_id))
    tables.touch(conn)


def _columns(wanted):
    values = {name: wanted[name] for name in ('name', 'enabled') if name in wanted}
    if 'description' in wanted:
        values['description'] = wanted['description'] or ''
    return values


class DomainResource:
    """Domains are the administrators' business."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing domains')
        table = tables.domains
        query = sa.select(table).order_by(table.c.name)
        if name := req.get_param('name'):
            query = query.where(table.c.name == name)
        if enabled := req.get_param('enabled'):
            query = query.where(table.c.enabled == listing.boolean(enabled, 'enabled'))
        with self._db.read() as conn:
            resp.media = collection(req, views.truncated(database.rows(conn, query), req))

    def on_post(self, req, resp):
        req.context.caller.require_admin('creating a domain')
        wanted = bodies.read(req, CREATE, 'domain')
        row = self._db.change(create, **_columns(wanted))
        resp.status = falcon.HTTP_201
        resp.media = {'domain': view(req, row)}

    def on_get_one(self, req, resp, domain_id):
        if domain_id != DEFAULT_ID:
            req.context.caller.require_admin('showing a domain')
        with self._db.read() as conn:
            resp.media = {'domain': view(req, get(conn, domain_id))}

    def on_patch_one(self, req, resp, domain_id):
        req.context.caller.require_admin('changing a domain')
        wanted = bodies.read(req, UPDATE, 'domain')
        row = self._db.change(update, domain_id, _columns(wanted))
        resp.media = {'domain': view(req, row)}

    def on_delete_one(self, req, resp, domain_id):
        req.context.caller.require_admin('deleting a domain')
        self._db.change(delete, domain_id)
        resp.status = falcon.HTTP_204
