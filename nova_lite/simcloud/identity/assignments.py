"""Role assignments: granting, checking, revoking, listing."""

import falcon

from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views


class GrantResource:
    """Roles of a user: /v3/{projects|domains}/{target}/users/{user}/roles[/{role}]."""

    def __init__(self, db, kind):
        self._db = db
        self._kind = kind
        self._field = f'{kind}_id'

    def _require_target(self, conn, target_id, user_id):
        table = tables.projects if self._kind == tables.PROJECT else tables.domains
        tables.get(conn, table, target_id)
        tables.get(conn, tables.users, user_id)

    def on_get(self, req, resp, user_id, **target):
        req.context.caller.require_admin('listing grants')
        target_id = target[self._field]
        with self._db.read() as conn:
            self._require_target(conn, target_id, user_id)
            ids = grants.granted(conn, user_id, self._kind, target_id)
            found = tables.among(conn, tables.roles, ids)
            resp.media = roles.RESOURCE.collection(conn, req, found)

    def _grant(self, conn, target_id, user_id, role_id):
        self._require_target(conn, target_id, user_id)
        tables.get(conn, tables.roles, role_id)
        grants.grant(conn, user_id, role_id, kind=self._kind, target_id=target_id)

    def on_put_one(self, req, resp, user_id, role_id, **target):
        req.context.caller.require_admin('granting a role')
        self._db.change(self._grant, target[self._field], user_id, role_id)
        resp.status = falcon.HTTP_204

    def on_head_one(self, req, resp, user_id, role_id, **target):
        req.context.caller.require_admin('checking a grant')
        with self._db.read() as conn:
            if role_id not in grants.granted(conn, user_id, self._kind, target[self._field]):
                raise faults.NotFound('Could not find that role assignment.')
        resp.status = falcon.HTTP_204

    def on_get_one(self, req, resp, user_id, role_id, **target):
        self.on_head_one(req, resp, user_id, role_id, **target)

    def on_delete_one(self, req, resp, user_id, role_id, **target):
        req.context.caller.require_admin('revoking a role')
        if not self._db.change(
            grants.revoke,
            user_id=user_id,
            target_kind=self._kind,
            target_id=target[self._field],
            role_id=role_id,
        ):
            raise faults.NotFound('Could not find that role assignment.')
        resp.status = falcon.HTTP_204


def _named(row, domain_names):
    reference = {'id': row['id'], 'name': row['name']}
    if 'domain_id' in row:
        domain_id = row['domain_id']
        reference['domain'] = {'id': domain_id, 'name': domain_names[domain_id]}
    return reference


class AssignmentList:
    """Lists of /v3/role_assignments, with its filters."""

    FILTERS = (
        ('user.id', 'user_id', None),
        ('role.id', 'role_id', None),
        ('scope.project.id', 'target_id', tables.PROJECT),
        ('scope.domain.id', 'target_id', tables.DOMAIN),
    )

    def __init__(self, db):
        self._db = db

    def _assigned(self, conn, req):
        wanted = {}
        for parameter, column, kind in self.FILTERS:
            if value := req.get_param(parameter):
                wanted |= {column: value} | ({'target_kind': kind} if kind else {})
        return database.find_all(conn, tables.assignments, **wanted)

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing role assignments')
        scopes = ('scope.project.id', 'scope.domain.id', 'scope.system')
        if sum(bool(req.get_param(name)) for name in scopes) > 1:
            raise faults.BadRequest('Name one scope: a project, a domain or the system.')
        if req.get_param('group.id') or req.get_param('scope.system'):
            resp.media = views.collection(req, 'role_assignments', [])
            return
        effective = 'effective' in req.params
        with self._db.read() as conn:
            found = self._assigned(conn, req)
            if effective:
                found = [
                    {**row, 'role_id': role_id}
                    for row in found
                    for role_id in sorted(grants.expanded(conn, [row['role_id']]))
                ]
            known = self._references(conn, named='include_names' in req.params)
        resp.media = views.collection(
            req, 'role_assignments', [self._view(req, row, known) for row in found]
        )

    @staticmethod
    def _references(conn, named):
        """Return {kind: {id: how an assignment refers to it}}."""
        sources = {
            'user': tables.users,
            'role': tables.roles,
            tables.PROJECT: tables.projects,
            tables.DOMAIN: tables.domains,
        }
        found = {kind: database.find_all(conn, table) for kind, table in sources.items()}
        names = {row['id']: row['name'] for row in found[tables.DOMAIN]}
        return {
            kind: {row['id']: _named(row, names) if named else {'id': row['id']} for row in rows}
            for kind, rows in found.items()
        }

    @staticmethod
    def _view(req, row, known):
        kind, target_id = row['target_kind'], row['target_id']
        inherited, prefix, suffix = {}, '', ''
        if kind == tables.INHERITED:
            kind, inherited = tables.DOMAIN, {'OS-INHERIT:inherited_to': 'projects'}
            prefix, suffix = 'OS-INHERIT/', '/inherited_to_projects'
        path = f'{kind}s/{target_id}/users/{row["user_id"]}/roles/{row["role_id"]}'
        path = f'{prefix}{path}{suffix}'
        return {
            'user': known['user'][row['user_id']],
            'role': known['role'][row['role_id']],
            'scope': {kind: known[kind][target_id], **inherited},
            'links': {'assignment': views.links(req, path)['self']},
        }


class CatalogResource:
    """Lists of /v3/services or /v3/endpoints, which are configured and cannot be changed.

    kind: 'service' or 'endpoint'; filters: attributes that a list can be filtered by
    """

    def __init__(self, kind, items, *filters):
        self._kind = kind
        self._items = items
        self._filters = filters

    def _found(self, req, reason):
        """Return all of the kind with their links. Raise Forbidden unless for an administrator."""
        req.context.caller.require_admin(reason)
        return [
            {**item, 'links': views.links(req, f'{self._kind}s/{item["id"]}')}
            for item in self._items()
        ]

    def on_get(self, req, resp):
        found = [
            item
            for item in self._found(req, f'listing {self._kind}s')
            if all(req.get_param(name) in (None, item[name]) for name in self._filters)
        ]
        resp.media = views.collection(req, f'{self._kind}s', found)

    def on_get_one(self, req, resp, item_id):
        for item in self._found(req, 'showing the catalog'):
            if item['id'] == item_id:
                resp.media = {self._kind: item}
                return
        raise faults.NotFound(f'Could not find {item_id[:64]}.')
