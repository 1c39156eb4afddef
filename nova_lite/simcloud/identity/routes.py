"""Routes below /identity."""

import itertools

import falcon

from nova_lite.simcloud import database
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import application_credentials
from nova_lite.simcloud.identity import assignments
from nova_lite.simcloud.identity import blobs
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import catalog_resources
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import endpoint_filters
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import lockout
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import token_resource
from nova_lite.simcloud.identity import tokens as token_store
from nova_lite.simcloud.identity import trusts
from nova_lite.simcloud.identity import unified_limits
from nova_lite.simcloud.identity import user_groups
from nova_lite.simcloud.identity import users

PREFIX = '/identity'


def _v3(req: web.Request) -> database.Row:
    kind = {'base': 'application/json', 'type': 'application/vnd.openstack.identity-v3+json'}
    return {
        'id': 'v3.14',
        'status': 'stable',
        'updated': '2020-04-07T00:00:00Z',
        'links': [{'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v3/'}],
        'media-types': [kind],
    }


class Versions:
    """Answers requests for the version documents, which need no token."""

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        resp.status = 300
        resp.location = _v3(req)['links'][0]['href']
        resp.media = {'versions': {'values': [_v3(req)]}}

    def on_get_v3(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'version': _v3(req)}


def add(
    app: routing.App,
    db: database.Database,
    tokens: token_store.Tokens,
    catalog: catalogs.Catalog,
    *,
    password_cost: int,
    passwords: lockout.Passwords,
) -> None:
    """Put the identity service's routes into `app`."""
    v3 = f'{PREFIX}/v3'
    versions = Versions()
    app.add_route(PREFIX, versions)
    app.add_route(v3, versions, suffix='v3')
    app.add_route(f'{v3}/extensions', routing.Document({'extensions': {'values': []}}))
    _add_auth(app, v3, token_resource.TokenResource(db, tokens, catalog, passwords))
    user = users.resource(password_cost)
    entries = catalog_resources.make(catalog)
    (endpoints,) = (one for one in entries if one.name == 'endpoint')
    endpoint_filters.add(app, db, v3, catalog=catalog, endpoints=endpoints)
    people = (domains.RESOURCE, projects.RESOURCE, user, user_groups.RESOURCE, roles.RESOURCE)
    bounds = (unified_limits.registered(catalog), unified_limits.LIMIT)
    app.add_route(f'{v3}/limits/model', routing.Document(unified_limits.MODEL))
    for resource in (*people, *entries, *bounds, blobs.CREDENTIAL, blobs.POLICY):
        path, field = f'{v3}/{resource.list_key}', f'{resource.name}_id'
        routing.add_resource(app, db, path, field=field, resource=resource)
    for name, field, resource in (
        (
            'application_credentials',
            'credential_id',
            application_credentials.resource(password_cost),
        ),
        ('access_rules', 'rule_id', access_rules.RESOURCE),
    ):
        path = f'{v3}/users/{{user_id}}/{name}'
        routing.add_resource(app, db, path, field=field, resource=resource)
    trusts.add(app, db, v3)
    own = users.OwnResource(db, password_cost, passwords)
    for name in ('password', 'projects'):
        app.add_route(f'{v3}/users/{{user_id}}/{name}', own, suffix=name)
    implied = roles.ImplicationResource(db)
    app.add_route(f'{v3}/roles/{{role_id}}/implies/{{implied_id}}', implied, suffix='implies')
    app.add_route(f'{v3}/role_inferences', implied, suffix='inferences')
    member = user_groups.MemberResource(db, user)
    routing.add_crud(app, f'{v3}/groups/{{group_id}}/users', member, 'user_id')
    app.add_route(f'{v3}/users/{{user_id}}/groups', member, suffix='groups')
    _add_grants(app, db, v3)


def _add_grants(app: routing.App, db: database.Database, v3: str) -> None:
    """Put the routes of role assignments into `app`."""
    for kind, actor in itertools.product((tables.PROJECT, tables.DOMAIN), grants.TABLES):
        grant = assignments.GrantResource(db, kind, actor)
        path = f'{v3}/{kind}s/{{{kind}_id}}/{actor}s/{{{actor}_id}}/roles'
        app.add_route(path, grant)
        app.add_route(f'{path}/{{role_id}}', grant, suffix='one')
    for actor in grants.TABLES:
        grant = assignments.GrantResource(db, tables.SYSTEM, actor)
        routing.add_crud(app, f'{v3}/system/{actor}s/{{{actor}_id}}/roles', grant, 'role_id')
    app.add_route(f'{v3}/role_assignments', assignments.AssignmentList(db))


def _add_auth(app: routing.App, v3: str, token: token_resource.TokenResource) -> None:
    for name in ('tokens', 'catalog', 'projects', 'domains'):
        app.add_route(f'{v3}/auth/{name}', token, suffix=name)
