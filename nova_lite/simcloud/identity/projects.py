"""/v3/projects."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

_PROPERTIES = {
    'name': {**bodies.NAME, 'maxLength': 64},
    'description': bodies.nullable(bodies.TEXT),
    'enabled': bodies.BOOLEAN,
    'domain_id': bodies.nullable(bodies.ID),
    'parent_id': bodies.nullable(bodies.ID),
    'is_domain': {'const': False},
    'tags': {'type': 'array', 'items': bodies.NAME, 'maxItems': 80},
    'options': {'type': 'object'},
}
CREATE = bodies.wrapped('project', _PROPERTIES, ['name'], extra=True)
UPDATE = bodies.wrapped('project', _PROPERTIES, extra=True)
OWN = frozenset(('name', 'enabled', 'tags'))


def view(req, row):
    """One project."""
    values = {name: value for name, value in row.items() if name != 'extra'}
    return {
        **row['extra'],
        **values,
        'is_domain': False,
        'options': {},
        'links': views.links(req, f'projects/{row["id"]}'),
    }


def collection(req, found):
    """A list of projects."""
    return views.collection(req, 'projects', [view(req, row) for row in found])


def enabled_for(conn, ids):
    """The enabled projects among `ids`, by name."""
    table = tables.projects
    return database.rows(
        conn, sa.select(table).where(table.c.id.in_(ids), table.c.enabled).order_by(table.c.name)
    )


def get(conn, project_id):
    """One row; NotFound otherwise."""
    row = tables.find(conn, tables.projects, id=project_id)
    if row is None:
        raise faults.NotFound(f'Could not find project: {project_id[:64]}.')
    return row


def _require_free_name(conn, domain_id, name, project_id=None):
    same = tables.find(conn, tables.projects, domain_id=domain_id, name=name)
    if same and same['id'] != project_id:
        raise faults.Conflict(
            f'Conflict occurred attempting to store project - it is not '
            f'permitted to have two with the name {name} in one domain.'
        )


def create(conn, wanted):
    """Insert a project from a request's values and return its row."""
    domain_id = wanted.get('domain_id')
    parent_id = wanted.get('parent_id')
    if parent_id and domain_id is None:
        parent = tables.find(conn, tables.projects, id=parent_id)
        domain_id = parent['domain_id'] if parent else parent_id
    domain_id = domain_id or domains.DEFAULT_ID
    domains.get(conn, domain_id)
    _require_free_name(conn, domain_id, wanted['name'])
    row = {
        'id': runtime.new_uuid().replace('-', ''),
        'domain_id': domain_id,
        'parent_id': parent_id or domain_id,
        'name': wanted['name'],
        'description': wanted.get('description') or '',
        'enabled': wanted.get('enabled', True),
        'tags': wanted.get('tags', []),
        'extra': {k: v for k, v in wanted.items() if k not in _PROPERTIES},
    }
    conn.execute(tables.projects.insert().values(**row))
    return row


def update(conn, project_id, wanted):
    """Change a project and return its row."""
    row = get(conn, project_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A project cannot move to another domain.')
    values = {name: wanted[name] for name in OWN if name in wanted}
    if 'description' in wanted:
        values['description'] = wanted['description'] or ''
    _require_free_name(conn, row['domain_id'], values.get('name', row['name']), project_id)
    values['extra'] = row['extra'] | {
        k: v for k, v in wanted.items() if k not in _PROPERTIES and k not in row
    }
    conn.execute(
        tables.projects.update().where(tables.projects.c.id == project_id).values(**values)
    )
    tables.touch(conn)
    return get(conn, project_id)


def delete(conn, project_id):
    """Remove a project and all assignments on it."""
    get(conn, project_id)
    if tables.find(conn, tables.projects, parent_id=project_id):
        raise faults.Forbidden('Cannot delete a project that has children.')
    grants.revoke(conn, target_kind=tables.PROJECT, target_id=project_id)
    conn.execute(
        tables.users.update()
        .where(tables.users.c.default_project_id == project_id)
        .values(default_project_id=None)
    )
    conn.execute(tables.projects.delete().where(tables.projects.c.id == project_id))
    tables.touch(conn)


def listed(conn, req):
    """The projects that the request's filters choose, by name."""
    table = tables.projects
    query = sa.select(table).order_by(table.c.name, table.c.id)
    for name in ('name', 'domain_id', 'parent_id'):
        if value := req.get_param(name):
            query = query.where(table.c[name] == value)
    if enabled := req.get_param('enabled'):
        query = query.where(table.c.enabled == listing.boolean(enabled, 'enabled'))
    return views.truncated(database.rows(conn, query), req)


class ProjectResource:
    """All are the administrators'; users may show what they belong to."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing projects')
        with self._db.read() as conn:
            resp.media = collection(req, listed(conn, req))

    def on_post(self, req, resp):
        req.context.caller.require_admin('creating a project')
        row = self._db.change(create, bodies.read(req, CREATE, 'project'))
        resp.status = falcon.HTTP_201
        resp.media = {'project': view(req, row)}

    def on_get_one(self, req, resp, project_id):
        caller = req.context.caller
        with self._db.read() as conn:
            mine = project_id == caller.project_id or project_id in grants.targets(
                conn, caller.user_id, tables.PROJECT
            )
            if not mine:
                caller.require_privileged('showing a project')
            resp.media = {'project': view(req, get(conn, project_id))}

    def on_patch_one(self, req, resp, project_id):
        req.context.caller.require_admin('changing a project')
        row = self._db.change(update, project_id, bodies.read(req, UPDATE, 'project'))
        resp.media = {'project': view(req, row)}

    def on_delete_one(self, req, resp, project_id):
        req.context.caller.require_admin('deleting a project')
        self._db.change(delete, project_id)
        resp.status = falcon.HTTP_204
