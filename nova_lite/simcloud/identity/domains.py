"""/v3/domains."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
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


def create(conn, _caller, wanted):
    """Insert a domain and return its row; Conflict when the name is taken."""
    if tables.find(conn, tables.domains, name=wanted['name']):
        raise faults.Conflict(
            f'Conflict occurred attempting to store domain - it is not '
            f'permitted to have two with the name {wanted["name"]}.'
        )
    row = {
        'id': wanted.get('id') or runtime.new_uuid().replace('-', ''),
        'name': wanted['name'],
        'description': '',
        'enabled': True,
        **_columns(wanted),
    }
    conn.execute(tables.domains.insert().values(**row))
    tables.touch(conn)
    return row


def update(conn, _caller, domain_id, wanted):
    """Change a domain and return its row."""
    row = tables.get(conn, tables.domains, domain_id) | _columns(wanted)
    same = tables.find(conn, tables.domains, name=row['name'])
    if same and same['id'] != domain_id:
        raise faults.Conflict(f'Another domain has the name {same["name"]}.')
    conn.execute(tables.domains.update().where(tables.domains.c.id == domain_id).values(**row))
    tables.touch(conn)
    return row


def delete(conn, _caller, domain_id):
    """Remove a disabled domain with its users, projects and assignments."""
    if tables.get(conn, tables.domains, domain_id)['enabled']:
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


def _permit(caller, action, path):
    """Domains are the administrators' business, but all may show the default one."""
    if action != resources.SHOW or path['domain_id'] != DEFAULT_ID:
        _by_admins(caller, action, path)


_by_admins = resources.admins('domain')
RESOURCE = resources.Resource(
    name='domain',
    style=views.STYLE,
    permit=_permit,
    listed=views.lists(tables.domains, 'name'),
    get=views.known(tables.domains),
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
