"""Role assignments: granting, checking, revoking, listing."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

TARGETS = {tables.PROJECT: tables.projects, tables.DOMAIN: tables.domains}


class GrantResource:
    """Roles of users or groups: /v3/{projects|domains}/{id}/{users|groups}/{id}/roles[/{role}].

    Roles on the system are at /v3/system/{users|groups}/{id}/roles[/{role}].
    """

    def __init__(self, db: database.Database, kind: str, actor: str) -> None:
        self._db = db
        self._kind = kind
        self._actor = actor

    def _target(self, path: resources.Path) -> str:
        return tables.WHOLE if self._kind == tables.SYSTEM else path[f'{self._kind}_id']

    def _known(self, conn: sa.Connection, path: resources.Path) -> tuple[str, str]:
        """Return (id of the user or group, target of the roles). Raise NotFound."""
        target_id, actor_id = self._target(path), path[f'{self._actor}_id']
        if self._kind in TARGETS:
            tables.get(conn, TARGETS[self._kind], target_id)
        tables.get(conn, tables.users if self._actor == tables.USER else tables.groups, actor_id)
        return actor_id, target_id

    def _granted(self, conn: sa.Connection, path: resources.Path) -> list[str]:
        """Return the ids of the roles that the user or group has."""
        actor_id, target_id = self._known(conn, path)
        return grants.granted(conn, actor_id, self._kind, target_id, actor=self._actor)

    def on_get(self, req: web.Request, resp: falcon.Response, **path: str) -> None:
        req.context.caller.require_admin('listing grants')
        with self._db.read() as conn:
            found = tables.among(conn, tables.roles, self._granted(conn, path))
            resp.media = roles.RESOURCE.collection(conn, req, found)

    def _grant(self, conn: sa.Connection, role_id: str, path: resources.Path) -> None:
        actor_id, target_id = self._known(conn, path)
        tables.get(conn, tables.roles, role_id)
        grants.grant(
            conn, actor_id, role_id, kind=self._kind, target_id=target_id, actor=self._actor
        )

    def on_put_one(
        self, req: web.Request, resp: falcon.Response, role_id: str, **path: str
    ) -> None:
        req.context.caller.require_admin('granting a role')
        self._db.change(self._grant, role_id, path)
        resp.status = falcon.HTTP_204

    def on_head_one(
        self, req: web.Request, resp: falcon.Response, role_id: str, **path: str
    ) -> None:
        req.context.caller.require_admin('checking a grant')
        with self._db.read() as conn:
            if role_id not in self._granted(conn, path):
                raise faults.NotFound('Could not find that role assignment.')
        resp.status = falcon.HTTP_204

    def on_get_one(
        self, req: web.Request, resp: falcon.Response, role_id: str, **path: str
    ) -> None:
        self.on_head_one(req, resp, role_id, **path)

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, role_id: str, **path: str
    ) -> None:
        req.context.caller.require_admin('revoking a role')
        column = f'{self._actor}_id'
        matching = {
            column: path[column],
            'target_kind': self._kind,
            'target_id': self._target(path),
            'role_id': role_id,
        }
        if not self._db.change(lambda conn: grants.revoke(conn, **matching)):
            raise faults.NotFound('Could not find that role assignment.')
        resp.status = falcon.HTTP_204


def _named(row: database.Row, domain_names: dict[str, str]) -> bodies.Json:
    reference = {'id': row['id'], 'name': row['name']}
    if 'domain_id' in row:
        domain_id = row['domain_id']
        reference['domain'] = {'id': domain_id, 'name': domain_names[domain_id]}
    return reference


class AssignmentList:
    """Lists of /v3/role_assignments, with its filters."""

    FILTERS = (
        ('user.id', 'user_id', None),
        ('group.id', 'group_id', None),
        ('role.id', 'role_id', None),
        ('scope.project.id', 'target_id', tables.PROJECT),
        ('scope.domain.id', 'target_id', tables.DOMAIN),
        ('scope.system', 'target_id', tables.SYSTEM),
    )

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _assigned(
        self, conn: sa.Connection, req: web.Request, *, of_anybody: bool = False
    ) -> list[database.Row]:
        """Return the assignments that the query selects: those of users, then those of groups."""
        wanted: database.Row = {}
        for parameter, column, kind in self.FILTERS:
            value = req.get_param(parameter)
            if value and not (of_anybody and column == 'user_id'):
                wanted |= {column: value} | ({'target_kind': kind} if kind else {})
        return [
            row
            for table in grants.TABLES.values()
            if wanted.keys() <= set(table.c.keys())
            for row in database.find_all(conn, table, **wanted)
        ]

    def _effective(self, conn: sa.Connection, req: web.Request) -> list[database.Row]:
        """Return the roles that users have, also through groups and through implied roles."""
        user_id = req.get_param('user.id')
        found = []
        for row in self._assigned(conn, req, of_anybody=True):
            holders = [row]
            if 'group_id' in row:
                members = database.find_all(conn, tables.group_members, group_id=row['group_id'])
                holders = [row | {'user_id': member['user_id']} for member in members]
            found += [each for each in holders if not user_id or user_id == each['user_id']]
        return [
            {**row, 'role_id': role_id}
            for row in found
            for role_id in sorted(grants.expanded(conn, [row['role_id']]))
        ]

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        req.context.caller.require_admin('listing role assignments')
        scopes = ('scope.project.id', 'scope.domain.id', 'scope.system')
        if sum(bool(req.get_param(name)) for name in scopes) > 1:
            raise faults.BadRequest('Name one scope: a project, a domain or the system.')
        effective = 'effective' in req.params
        if req.get_param('group.id') and (effective or req.get_param('user.id')):
            raise faults.BadRequest('Filter by a group alone: users have what is effective.')
        with self._db.read() as conn:
            found = self._effective(conn, req) if effective else self._assigned(conn, req)
            known = self._references(conn, named='include_names' in req.params)
        resp.media = views.collection(
            req, 'role_assignments', [self._view(req, row, known) for row in found]
        )

    @staticmethod
    def _references(conn: sa.Connection, named: bool) -> database.Row:
        """Return {kind: {id: how an assignment refers to it}}."""
        sources = {
            tables.USER: tables.users,
            tables.GROUP: tables.groups,
            'role': tables.roles,
            **TARGETS,
        }
        found = {kind: database.find_all(conn, table) for kind, table in sources.items()}
        names = {row['id']: row['name'] for row in found[tables.DOMAIN]}
        return {
            kind: {row['id']: _named(row, names) if named else {'id': row['id']} for row in rows}
            for kind, rows in found.items()
        } | {tables.SYSTEM: {tables.WHOLE: {tables.WHOLE: True}}}

    @staticmethod
    def _view(req: web.Request, row: database.Row, known: bodies.Json) -> bodies.Json:
        kind, target_id = row['target_kind'], row['target_id']
        inherited: dict[str, str] = {}
        prefix = suffix = ''
        if kind == tables.INHERITED:
            kind, inherited = tables.DOMAIN, {'OS-INHERIT:inherited_to': 'projects'}
            prefix, suffix = 'OS-INHERIT/', '/inherited_to_projects'
        actor = tables.USER if 'user_id' in row else tables.GROUP
        holder = tables.GROUP if 'group_id' in row else tables.USER
        target = kind if kind == tables.SYSTEM else f'{kind}s/{target_id}'
        path = f'{target}/{holder}s/{row[f"{holder}_id"]}/roles/{row["role_id"]}'
        links = {'assignment': views.links(req, f'{prefix}{path}{suffix}')['self']}
        if actor != holder:
            member = f'groups/{row["group_id"]}/users/{row["user_id"]}'
            links['membership'] = views.links(req, member)['self']
        return {
            actor: known[actor][row[f'{actor}_id']],
            'role': known['role'][row['role_id']],
            'scope': {kind: known[kind][target_id], **inherited},
            'links': links,
        }
