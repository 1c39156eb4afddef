"""/v3/projects."""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

_TAG = {**bodies.NAME, 'pattern': '^[^,/]*$'}
_PROPERTIES = {
    'name': {**bodies.NAME, 'maxLength': 64},
    'description': bodies.nullable(bodies.TEXT),
    'enabled': bodies.BOOLEAN,
    'domain_id': bodies.nullable(bodies.ID),
    'parent_id': bodies.nullable(bodies.ID),
    'is_domain': {'const': False},
    'tags': {**bodies.array(_TAG, most=80), 'uniqueItems': True},
    'options': {'type': 'object'},
}
CREATE = bodies.wrapped('project', _PROPERTIES, ['name'], extra=True)
UPDATE = bodies.wrapped('project', _PROPERTIES, extra=True)


def view(req, row):
    """Return one project."""
    values = {name: value for name, value in row.items() if name != 'extra'}
    return {
        **row['extra'],
        **values,
        'is_domain': False,
        'options': {},
        'links': views.links(req, f'projects/{row["id"]}'),
    }


def _known(wanted):
    return {
        name: wanted[name] for name in ('name', 'description', 'enabled', 'tags') if name in wanted
    }


def create(conn, _caller, wanted):
    """Insert a project from a request's values and return its row."""
    domain_id = wanted.get('domain_id')
    parent_id = wanted.get('parent_id')
    if parent_id and domain_id is None:
        parent = database.find(conn, tables.projects, id=parent_id)
        domain_id = parent['domain_id'] if parent else parent_id
    domain_id = domain_id or domains.DEFAULT_ID
    if not database.exists(conn, tables.domains, id=domain_id):
        raise faults.BadRequest(f'Domain or parent {domain_id} does not exist.')
    tables.require_free_name(conn, tables.projects, wanted['name'], domain_id=domain_id)
    return database.insert(
        conn,
        tables.projects,
        **database.columns(tables.projects, _known(wanted)),
        domain_id=domain_id,
        parent_id=parent_id or domain_id,
        extra={k: v for k, v in wanted.items() if k not in _PROPERTIES},
    )


def update(conn, _caller, project_id, wanted):
    """Change a project and return its row."""
    row = tables.get(conn, tables.projects, project_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A project cannot move to another domain.')
    values = database.columns(tables.projects, _known(wanted))
    name = values.get('name', row['name'])
    own = {'row_id': project_id, 'domain_id': row['domain_id']}
    tables.require_free_name(conn, tables.projects, name, **own)
    more = {k: v for k, v in wanted.items() if k not in _PROPERTIES and k not in row}
    return tables.save(conn, tables.projects, row, **values, extra=row['extra'] | more)


def delete(conn, _caller, project_id):
    """Remove a project and all assignments on it."""
    tables.get(conn, tables.projects, project_id)
    if database.exists(conn, tables.projects, parent_id=project_id):
        raise faults.Forbidden('Cannot delete a project that has children.')
    grants.revoke(conn, target_kind=tables.PROJECT, target_id=project_id)
    conn.execute(
        tables.users.update()
        .where(tables.users.c.default_project_id == project_id)
        .values(default_project_id=None)
    )
    tables.remove(conn, tables.projects, project_id)


def get(conn, caller, project_id):
    """Return a project. Users may see the projects in which they have a role."""
    if project_id != caller.project_id and project_id not in grants.targets(
        conn, caller.user_id, tables.PROJECT
    ):
        caller.require_privileged('showing a project')
    return tables.get(conn, tables.projects, project_id)


RESOURCE = resources.Resource(
    name='project',
    style=views.STYLE,
    permit=resources.admins('project', actions=resources.ALL_BUT_SHOW),
    listed=views.lists(tables.projects, 'name', 'domain_id', 'parent_id'),
    get=get,
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    only_updated=views.extra,
    delete=delete,
)
