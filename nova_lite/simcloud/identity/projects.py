"""/v3/projects."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
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


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one project."""
    values = {name: value for name, value in row.items() if name != 'extra'}
    return {
        **row['extra'],
        **values,
        'is_domain': False,
        'options': {},
        'links': views.links(req, f'projects/{row["id"]}'),
    }


def _asked(req: web.Request, name: str) -> bool:
    text = req.get_param(name)
    return text is not None and (text == '' or text.strip().lower() not in paging.FALSE)


def _relatives(conn: sa.Connection, req: web.Request, row: database.Row) -> bodies.Json:
    """Return the projects above and below a project, in the form that the request asks for."""
    shown: bodies.Json = {}
    for key, function in (('parents', _parents), ('subtree', _subtree)):
        as_list, as_ids = (_asked(req, f'{key}_as_{form}') for form in ('list', 'ids'))
        if as_list and as_ids:
            raise faults.BadRequest(f'Only one of {key}_as_list and {key}_as_ids can be asked for.')
        if as_list or as_ids:
            shown[key] = function(conn, req, row, as_ids=as_ids)
    return shown


def _seen(conn: sa.Connection, req: web.Request, rows: list[database.Row]) -> list[bodies.Json]:
    """Return those projects among `rows` in which the caller has a role."""
    own = grants.targets(conn, req.context.caller.user_id, tables.PROJECT)
    return [{'project': view(req, row)} for row in rows if row['id'] in own]


def _parents(
    conn: sa.Connection, req: web.Request, row: database.Row, *, as_ids: bool
) -> bodies.Json | list[bodies.Json]:
    """Return the projects above a project, or nested ids of these projects and the domain."""
    above = [row]
    while parent := database.find(conn, tables.projects, id=above[-1]['parent_id']):
        above.append(parent)
    del above[0]
    if not as_ids:
        return _seen(conn, req, above)
    tree: bodies.Json = {row['domain_id']: None}
    for one in reversed(above):
        tree = {one['id']: tree}
    return tree


def _subtree(
    conn: sa.Connection, req: web.Request, row: database.Row, *, as_ids: bool
) -> bodies.Json | list[bodies.Json] | None:
    """Return the projects below a project, or the nested ids of these projects."""
    children = database.find_all(conn, tables.projects, parent_id=row['id'])
    if as_ids:
        return {one['id']: _subtree(conn, req, one, as_ids=True) for one in children} or None
    below = list(children)
    for one in below:  # grows
        below += database.find_all(conn, tables.projects, parent_id=one['id'])
    return _seen(conn, req, below)


def _shown(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    return [view(req, row) | _relatives(conn, req, row) for row in found]


def _known(wanted: bodies.Json) -> database.Row:
    return {
        name: wanted[name] for name in ('name', 'description', 'enabled', 'tags') if name in wanted
    }


def create(
    conn: sa.Connection, _caller: callers.Caller | None, wanted: bodies.Json
) -> database.Row:
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


def update(
    conn: sa.Connection, _caller: callers.Caller, project_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a project and return its row."""
    row = tables.get(conn, tables.projects, project_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A project cannot move to another domain.')
    values = database.columns(tables.projects, _known(wanted))
    name = (row | values)['name']
    own = {'row_id': project_id, 'domain_id': row['domain_id']}
    tables.require_free_name(conn, tables.projects, name, **own)
    more = {k: v for k, v in wanted.items() if k not in _PROPERTIES and k not in row}
    return tables.save(conn, tables.projects, row, **values, extra=row['extra'] | more)


def delete(conn: sa.Connection, _caller: callers.Caller, project_id: str) -> None:
    """Delete a project and all assignments on it."""
    tables.get(conn, tables.projects, project_id)
    if database.exists(conn, tables.projects, parent_id=project_id):
        raise faults.Forbidden('Cannot delete a project that has children.')
    grants.forget_project(conn, project_id)
    conn.execute(
        tables.users.update()
        .where(tables.users.c.default_project_id == project_id)
        .values(default_project_id=None)
    )
    database.delete(conn, tables.project_endpoints, project_id=project_id)
    tables.remove(conn, tables.projects, project_id)


def get(conn: sa.Connection, caller: callers.Caller, project_id: str) -> database.Row:
    """Return a project. Users may see the project of their token."""
    if project_id != caller.project_id:
        caller.require_privileged('showing a project')
    return tables.get(conn, tables.projects, project_id)


RESOURCE = resources.Resource(
    name='project',
    style=views.STYLE,
    permit=resources.admins('project', actions=resources.ALL_BUT_SHOW),
    listed=views.lists(tables.projects, 'name', 'domain_id', 'parent_id'),
    get=get,
    views=resources.each_as_asked(view),
    shown=_shown,
    create=(create, CREATE),
    update=(update, UPDATE),
    only_updated=views.extra,
    delete=delete,
)
