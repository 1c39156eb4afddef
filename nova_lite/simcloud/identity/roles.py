"""/v3/roles, and implications between roles."""

import falcon
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

_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.nullable(bodies.TEXT),
    'domain_id': {'type': 'null'},
    'options': {'type': 'object'},
}
CREATE = bodies.wrapped('role', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('role', _PROPERTIES)


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one role."""
    return {
        **row,
        'description': row['description'] or None,
        'domain_id': None,
        'options': {},
        'links': views.links(req, f'roles/{row["id"]}'),
    }


def reference(req: web.Request, row: database.Row) -> database.Row:
    """Return one role in the short form that implications show."""
    seen = view(req, row)
    return {name: seen[name] for name in ('id', 'name', 'links')}


def create(
    conn: sa.Connection, _caller: callers.Caller | None, wanted: bodies.Json
) -> database.Row:
    """Insert a role and return its row. Raise Conflict when the name is taken."""
    return tables.insert_named(conn, tables.roles, wanted)


def update(
    conn: sa.Connection, _caller: callers.Caller, role_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a role and return its row."""
    return tables.save_named(conn, tables.roles, role_id, wanted)


def delete(conn: sa.Connection, _caller: callers.Caller, role_id: str) -> None:
    """Delete a role with its assignments and implications."""
    tables.get(conn, tables.roles, role_id)
    grants.revoke(conn, role_id=role_id)
    for end in ('prior_role_id', 'implied_role_id'):
        database.delete(conn, tables.implied_roles, **{end: role_id})
    tables.remove(conn, tables.roles, role_id)


def imply(conn: sa.Connection, prior_id: str, implied_id: str) -> None:
    """Make the role `prior_id` imply the role `implied_id`. Raise NotFound or Conflict."""
    tables.get(conn, tables.roles, prior_id), tables.get(conn, tables.roles, implied_id)
    if prior_id in grants.expanded(conn, [implied_id]):
        raise faults.Conflict('A role cannot imply itself, not even through others.')
    if implied_id not in grants.implications(conn).get(prior_id, ()):
        pair = {'prior_role_id': prior_id, 'implied_role_id': implied_id}
        database.insert(conn, tables.implied_roles, **pair)
        tables.touch(conn)


def stop_implying(conn: sa.Connection, prior_id: str, implied_id: str) -> None:
    """Delete an implication. Raise NotFound if it does not exist."""
    pair = {'prior_role_id': prior_id, 'implied_role_id': implied_id}
    if not database.delete(conn, tables.implied_roles, **pair):
        raise faults.NotFound('Could not find that implied role.')
    tables.touch(conn)


RESOURCE = resources.Resource(
    name='role',
    style=views.STYLE,
    permit=resources.admins('role'),
    listed=views.lists(tables.roles, 'name'),
    get=views.known(tables.roles),
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)


class ImplicationResource:
    """Implications between roles, which only administrators may see and change."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_put_implies(
        self, req: web.Request, resp: falcon.Response, role_id: str, implied_id: str
    ) -> None:
        req.context.caller.require_admin('changing implied roles')
        self._db.change(imply, role_id, implied_id)
        with self._db.read() as conn:
            resp.media = {
                'role_inference': {
                    'prior_role': reference(req, tables.get(conn, tables.roles, role_id)),
                    'implies': reference(req, tables.get(conn, tables.roles, implied_id)),
                },
                'links': views.links(req, f'roles/{role_id}/implies/{implied_id}'),
            }
        resp.status = falcon.HTTP_201

    def on_delete_implies(
        self, req: web.Request, resp: falcon.Response, role_id: str, implied_id: str
    ) -> None:
        req.context.caller.require_admin('changing implied roles')
        self._db.change(stop_implying, role_id, implied_id)
        resp.status = falcon.HTTP_204

    def on_get_inferences(self, req: web.Request, resp: falcon.Response) -> None:
        req.context.caller.require_admin('listing implied roles')
        with self._db.read() as conn:
            known = {row['id']: view(req, row) for row in database.find_all(conn, tables.roles)}
            found = grants.implications(conn)
        resp.media = {
            'role_inferences': [
                {'prior_role': known[prior], 'implies': [known[one] for one in sorted(implied)]}
                for prior, implied in found.items()
            ]
        }
