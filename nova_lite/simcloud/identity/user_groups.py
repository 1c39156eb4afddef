"""/v3/groups: groups of users. A role of a group is a role of all its users."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

GROUPS, MEMBERS = tables.groups, tables.group_members
_PROPERTIES = {
    'name': bodies.NAME,
    'description': bodies.nullable(bodies.TEXT),
    'domain_id': bodies.nullable(bodies.ID),
}
CREATE = bodies.wrapped('group', _PROPERTIES, ['name'])
UPDATE = bodies.wrapped('group', _PROPERTIES)


def view(req: web.Request, row: database.Row) -> bodies.Json:
    """Return one group."""
    return {**row, 'links': views.links(req, f'groups/{row["id"]}')}


def create(conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a group from a request's values and return its row."""
    domain_id = wanted.get('domain_id') or domains.DEFAULT_ID
    tables.get(conn, tables.domains, domain_id)
    tables.require_free_name(conn, GROUPS, wanted['name'], domain_id=domain_id)
    values = database.columns(GROUPS, wanted) | {'domain_id': domain_id}
    return database.insert(conn, GROUPS, **values)


def update(
    conn: sa.Connection, _caller: callers.Caller, group_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a group and return its row."""
    row = tables.get(conn, GROUPS, group_id)
    if wanted.get('domain_id') not in (None, row['domain_id']):
        raise faults.BadRequest('A group cannot move to another domain.')
    values = database.columns(GROUPS, {**wanted, 'domain_id': row['domain_id']})
    name = (row | values)['name']
    domain_id = row['domain_id']
    tables.require_free_name(conn, GROUPS, name, row_id=group_id, domain_id=domain_id)
    return tables.save(conn, GROUPS, row, **values)


def delete(conn: sa.Connection, _caller: callers.Caller, group_id: str) -> None:
    """Delete a group with its assignments. Its users remain."""
    tables.get(conn, GROUPS, group_id)
    grants.forget_group(conn, group_id)
    tables.remove(conn, GROUPS, group_id)


RESOURCE = resources.Resource(
    name='group',
    style=views.STYLE,
    permit=resources.admins('group'),
    listed=views.lists(GROUPS, 'name', 'domain_id'),
    get=views.known(GROUPS),
    views=resources.each_as_asked(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)


class MemberResource:
    """Answers requests for the users of a group and the groups of a user."""

    def __init__(self, db: database.Database, user_resource: resources.Resource) -> None:
        self._db = db
        self._user_resource = user_resource

    @staticmethod
    def _pair(conn: sa.Connection, group_id: str, user_id: str) -> dict[str, str]:
        """Return the columns of a membership. Raise NotFound for an unknown group or user."""
        tables.get(conn, GROUPS, group_id)
        tables.get(conn, tables.users, user_id)
        return {'group_id': group_id, 'user_id': user_id}

    def on_get(self, req: web.Request, resp: falcon.Response, group_id: str) -> None:
        req.context.caller.require_admin('listing the users of a group')
        with self._db.read() as conn:
            tables.get(conn, GROUPS, group_id)
            ids = [row['user_id'] for row in database.find_all(conn, MEMBERS, group_id=group_id)]
            found = tables.among(conn, tables.users, ids)
            resp.media = self._user_resource.collection(conn, req, found)

    def on_get_groups(self, req: web.Request, resp: falcon.Response, user_id: str) -> None:
        if user_id != req.context.caller.user_id:
            req.context.caller.require_admin('listing the groups of another user')
        with self._db.read() as conn:
            tables.get(conn, tables.users, user_id)
            found = tables.among(conn, GROUPS, grants.groups_of(conn, user_id))
            resp.media = RESOURCE.collection(conn, req, found)

    def _require(self, conn: sa.Connection, group_id: str, user_id: str) -> dict[str, str]:
        pair = self._pair(conn, group_id, user_id)
        if not database.exists(conn, MEMBERS, **pair):
            raise faults.NotFound(f"User '{user_id[:64]}' not found in group '{group_id[:64]}'.")
        return pair

    def on_head_one(
        self, req: web.Request, resp: falcon.Response, group_id: str, user_id: str
    ) -> None:
        req.context.caller.require_admin('checking a member of a group')
        with self._db.read() as conn:
            self._require(conn, group_id, user_id)
        resp.status = falcon.HTTP_204

    on_get_one = on_head_one

    def on_put_one(
        self, req: web.Request, resp: falcon.Response, group_id: str, user_id: str
    ) -> None:
        req.context.caller.require_admin('adding a user to a group')

        def add(conn: sa.Connection) -> None:
            pair = self._pair(conn, group_id, user_id)
            if not database.exists(conn, MEMBERS, **pair):
                database.insert(conn, MEMBERS, **pair)
                tables.touch(conn)

        self._db.change(add)
        resp.status = falcon.HTTP_204

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, group_id: str, user_id: str
    ) -> None:
        req.context.caller.require_admin('removing a user from a group')

        def remove(conn: sa.Connection) -> None:
            database.delete(conn, MEMBERS, **self._require(conn, group_id, user_id))
            tables.touch(conn)

        self._db.change(remove)
        resp.status = falcon.HTTP_204
