"""Routes below /identity."""

import itertools

from nova_lite.simcloud import routing
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import application_credentials
from nova_lite.simcloud.identity import assignments
from nova_lite.simcloud.identity import blobs
from nova_lite.simcloud.identity import catalog_resources
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import endpoint_filters
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import token_resource
from nova_lite.simcloud.identity import trusts
from nova_lite.simcloud.identity import user_groups
from nova_lite.simcloud.identity import users

PREFIX = '/identity'


def _v3(req):
    kind = {'base': 'application/json', 'type': 'application/vnd.openstack.identity-v3+json'}
    return {
        'id': 'v3.14',
        'status': 'stable',
        'updated': '2020-04-07T00:00:00Z',
        'links': [{'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v3/'}],
        'media-types': [kind],
    }


class Versions:
    """The version documents, which need no token."""

    def on_get(self, req, resp):
        resp.status = 300
        resp.location = _v3(req)['links'][0]['href']
        resp.media = {'versions': {'values': [_v3(req)]}}

    def on_get_v3(self, req, resp):
        resp.media = {'version': _v3(req)}


def add(app, db, tokens, catalog, *, password_cost):
    """Put the identity service's routes into `app`."""
    v3 = f'{PREFIX}/v3'
    versions = Versions()
    app.add_route(PREFIX, versions)
    app.add_route(v3, versions, suffix='v3')
    app.add_route(f'{v3}/extensions', routing.Document({'extensions': {'values': []}}))
    _add_auth(app, v3, token_resource.TokenResource(db, tokens, catalog))
    user = users.resource(password_cost)
    entries = catalog_resources.make(catalog)
    (endpoints,) = (one for one in entries if one.name == 'endpoint')
    endpoint_filters.add(app, db, v3, catalog=catalog, endpoints=endpoints)
    people = (domains.RESOURCE, projects.RESOURCE, user, user_groups.RESOURCE, roles.RESOURCE)
    for resource in (*people, *entries, blobs.CREDENTIAL, blobs.POLICY):
        path, field = f'{v3}/{resource.list_key}', f'{resource.name}_id'
        routing.add_resource(app, db, path, field=field, resource=resource)
    routing.add_resource(
        app,
        db,
        f'{v3}/users/{{user_id}}/application_credentials',
        field='credential_id',
        resource=application_credentials.resource(password_cost),
    )
    routing.add_resource(
        app,
        db,
        f'{v3}/users/{{user_id}}/access_rules',
        field='rule_id',
        resource=access_rules.RESOURCE,
    )
    trusts.add(app, db, v3)
    own = users.OwnResource(db, password_cost)
    for name in ('password', 'projects'):
        app.add_route(f'{v3}/users/{{user_id}}/{name}', own, suffix=name)
    implied = roles.ImplicationResource(db)
    app.add_route(f'{v3}/roles/{{role_id}}/implies/{{implied_id}}', implied, suffix='implies')
    app.add_route(f'{v3}/role_inferences', implied, suffix='inferences')
    member = user_groups.MemberResource(db, user)
    routing.add_crud(app, f'{v3}/groups/{{group_id}}/users', member, 'user_id')
    app.add_route(f'{v3}/users/{{user_id}}/groups', member, suffix='groups')
    for kind, actor in itertools.product((tables.PROJECT, tables.DOMAIN), grants.TABLES):
        grant = assignments.GrantResource(db, kind, actor)
        path = f'{v3}/{kind}s/{{{kind}_id}}/{actor}s/{{{actor}_id}}/roles'
        app.add_route(path, grant)
        app.add_route(f'{path}/{{role_id}}', grant, suffix='one')
    for actor in grants.TABLES:
        grant = assignments.GrantResource(db, tables.SYSTEM, actor)
        routing.add_crud(app, f'{v3}/system/{actor}s/{{{actor}_id}}/roles', grant, 'role_id')
    app.add_route(f'{v3}/role_assignments', assignments.AssignmentList(db))


def _add_auth(app, v3, token):
    for name in ('tokens', 'catalog', 'projects', 'domains'):
        app.add_route(f'{v3}/auth/{name}', token, suffix=name)
