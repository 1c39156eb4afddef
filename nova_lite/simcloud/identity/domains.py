"""/v3/domains."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

DEFAULT_ID = 'default'

_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.nullable(bodies.TEXT),
    'enabled': bodies.BOOLEAN,
    'options': {'type': 'object'},
    'tags': bodies.array(bodies.STRING),
}
CREATE = bodies.wrapped('domain', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('domain', _PROPERTIES)


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one domain."""
    return {**row, 'options': {}, 'tags': [], 'links': views.links(req, f'domains/{row["id"]}')}


def create(
    conn: sa.Connection, _caller: callers.Caller | None, wanted: bodies.Json
) -> database.Row:
    """Insert a domain and return its row. Raise Conflict when the name is taken."""
    return tables.insert_named(conn, tables.domains, wanted)


def update(
    conn: sa.Connection, _caller: callers.Caller, domain_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a domain and return its row."""
    return tables.save_named(conn, tables.domains, domain_id, wanted)


def delete(conn: sa.Connection, _caller: callers.Caller, domain_id: str) -> None:
    """Delete a disabled domain with its users, groups, projects and assignments."""
    if tables.get(conn, tables.domains, domain_id)['enabled']:
        raise faults.Forbidden('Cannot delete a domain that is enabled, please disable it first.')
    for row in database.find_all(conn, tables.projects, domain_id=domain_id):
        grants.forget_project(conn, row['id'])
    for row in database.find_all(conn, tables.users, domain_id=domain_id):
        grants.forget_user(conn, row['id'])
    for row in database.find_all(conn, tables.groups, domain_id=domain_id):
        grants.forget_group(conn, row['id'])
    for table in (tables.projects, tables.users, tables.groups):
        database.delete(conn, table, domain_id=domain_id)
    for kind in (tables.DOMAIN, tables.INHERITED):
        grants.revoke(conn, target_kind=kind, target_id=domain_id)
    tables.remove(conn, tables.domains, domain_id)


def _permit(caller: callers.Caller, action: str, path: resources.Path) -> None:
    """Raise Forbidden unless the caller is an administrator, or requests the default domain."""
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
