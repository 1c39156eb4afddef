"""simcloud's identity service against the real Keystone; test_tokens has its tokens."""

from tests.peers import base
from tests.peers import identity


class IdentityTest(identity.IdentityPeersTest):
    # ---- versions ----

    @base.same
    def test_versions(self, peer):
        for path in ('/v3', '/v3/', '/', '/v2.0', '/v3/nothing'):
            peer.ask('GET', path)
        peer.headers = {}
        for path in ('/v3', '/', '/v3/nothing', '/v3/users'):
            peer.ask('GET', path)

    # ---- projects ----

    @base.same
    def test_projects(self, peer):
        domain = self.domain(peer)
        first = self.project(peer, 'a', domain_id=domain)
        self.project(peer, 'b', domain_id=domain, description='second', enabled=False)
        child = self.project(peer, 'c', domain_id=domain, parent_id=first, tags=['x'])
        self.project(peer, 'd', domain_id=domain, colour='blue')
        for query in ('', '&enabled=true', '&enabled=false', f'&name={self._testMethodName}-a'):
            peer.ask('GET', f'/v3/projects?domain_id={domain}{query}')
        peer.ask('GET', f'/v3/projects?parent_id={first}')
        peer.ask('GET', f'/v3/projects?domain_id={identity.NOWHERE}')
        peer.ask('GET', f'/v3/projects/{child}')
        changes = {'name': 'new', 'description': None, 'enabled': False, 'shape': 'round'}
        peer.ask('PATCH', f'/v3/projects/{child}', {'project': changes})
        peer.ask('DELETE', f'/v3/projects/{first}')
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, f'/v3/projects/{child}')

    @base.same
    def test_projects_above_and_below(self, peer):
        user, top = self.member(peer)
        role = self.role(peer)
        middle = self.project(peer, 'middle', parent_id=top)
        low = [self.project(peer, name, parent_id=middle) for name in ('low', 'lower')]
        peer.ask('PUT', f'/v3/projects/{low[0]}/users/{user}/roles/{role}')
        bodies = [None, identity.login({'id': user}, project={'id': low[0]})]
        for token in [self.token(peer, body) if body else None for body in bodies]:
            if token:
                peer.headers['X-Auth-Token'] = token
            for project in (top, middle, low[0]):
                for query in (
                    *('parents_as_list', 'parents_as_ids', 'subtree_as_list', 'subtree_as_ids'),
                    'parents_as_list=true&subtree_as_list=true',
                    *('parents_as_list=0', 'parents_as_list=x'),
                    *('parents_as_list&parents_as_ids', 'subtree_as_list&subtree_as_ids'),
                ):
                    peer.ask('GET', f'/v3/projects/{project}?{query}')
        peer.ask('GET', f'/v3/projects?parent_id={middle}&parents_as_list')

    @base.same
    def test_refused_projects(self, peer):
        project = self.project(peer, 'a')
        self.project(peer, 'b')
        taken = f'{self._testMethodName}-b'
        for values in (
            {},
            {'name': ''},
            {'name': 'x' * 65},
            {'name': 1},
            {'name': None},
            {'name': taken},
            {'name': 'x', 'enabled': 'yes'},
            {'name': 'x', 'description': 1},
            {'name': 'x', 'domain_id': identity.NOWHERE},
            {'name': 'x', 'parent_id': identity.NOWHERE},
            {'name': 'x', 'tags': 'x'},
            {'name': 'x', 'tags': ['a,b']},
            {'name': 'x', 'tags': ['a', 'a']},
            {'name': 'x', 'options': []},
        ):
            peer.ask('POST', '/v3/projects', {'project': values})
        peer.ask('POST', '/v3/projects', {})
        peer.ask('POST', '/v3/projects', {'project': None})
        for changes in ({'name': taken}, {'name': ''}, {'enabled': None}, {'parent_id': 'default'}):
            peer.ask('PATCH', f'/v3/projects/{project}', {'project': changes})
        peer.ask('PATCH', f'/v3/projects/{identity.NOWHERE}', {'project': {'name': 'x'}})

    # ---- users ----

    @base.same
    def test_users(self, peer):
        domain, project = self.domain(peer), self.project(peer)
        user = self.user(peer, 'a', domain_id=domain, email='a@example.org')
        self.user(peer, 'b', domain_id=domain, enabled=False, default_project_id=project)
        self.user(peer, 'c', domain_id=domain, password=None, description='third')
        for query in ('', '&enabled=true', '&enabled=false', f'&name={self._testMethodName}-a'):
            peer.ask('GET', f'/v3/users?domain_id={domain}{query}')
        peer.ask('GET', f'/v3/users/{user}')
        changes = {'name': 'new', 'email': 'b@example.org', 'default_project_id': project}
        peer.ask('PATCH', f'/v3/users/{user}', {'user': changes})
        peer.ask('PATCH', f'/v3/users/{user}', {'user': {'default_project_id': None}})
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, f'/v3/users/{user}')

    @base.same
    def test_refused_users(self, peer):
        user = self.user(peer, 'a')
        self.user(peer, 'b')
        taken = f'{self._testMethodName}-b'
        for values in (
            {},
            {'name': ''},
            {'name': 'x' * 256},
            {'name': 1},
            {'name': taken},
            {'name': 'x', 'enabled': 'yes'},
            {'name': 'x', 'domain_id': identity.NOWHERE},
            {'name': 'x', 'password': 1},
            {'name': 'x', 'options': []},
        ):
            peer.ask('POST', '/v3/users', {'user': values})
        for changes in ({'name': taken}, {'name': ''}, {'enabled': None}):
            peer.ask('PATCH', f'/v3/users/{user}', {'user': changes})
        peer.ask('PATCH', f'/v3/users/{identity.NOWHERE}', {'user': {'name': 'x'}})

    @base.same
    def test_passwords(self, peer):
        user = self.user(peer)
        token = self.token(peer, identity.login({'id': user}))
        path = f'/v3/users/{user}/password'
        change = {'original_password': identity.PASSWORD, 'password': identity.OTHER_PASSWORD}
        peer.ask('POST', path, {'user': {**change, 'original_password': 'wrong'}})
        peer.ask('POST', path, {'user': {'password': identity.OTHER_PASSWORD}})
        peer.ask('POST', path, {'user': change})
        self.token(peer, identity.login({'id': user}))
        self.token(peer, identity.login({'id': user}, identity.OTHER_PASSWORD))
        peer.ask('GET', '/v3/auth/tokens', headers={'X-Subject-Token': token})

    # ---- domains and roles ----

    @base.same
    def test_domains(self, peer):
        domain = self.domain(peer)
        peer.ask('GET', f'/v3/domains?name={self._testMethodName}')
        peer.ask('GET', f'/v3/domains/{domain}')
        peer.ask('GET', '/v3/domains/default')
        peer.ask('PATCH', f'/v3/domains/{domain}', {'domain': {'description': 'new'}})
        peer.ask('DELETE', f'/v3/domains/{domain}')
        peer.ask('PATCH', f'/v3/domains/{domain}', {'domain': {'enabled': False}})
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, f'/v3/domains/{domain}')
        for values in ({}, {'name': ''}, {'name': 'Default'}, {'name': 'x', 'enabled': 1}):
            peer.ask('POST', '/v3/domains', {'domain': values})

    @base.same
    def test_roles(self, peer):
        role = peer.made('/v3/roles', {'role': {'name': self._testMethodName}})['id']
        for values in ({}, {'name': ''}, {'name': self._testMethodName}, {'name': 1}):
            peer.ask('POST', '/v3/roles', {'role': values})
        peer.ask('GET', f'/v3/roles?name={self._testMethodName}')
        peer.ask('GET', f'/v3/roles/{role}')
        changes = {'name': 'other', 'description': 'new'}
        peer.ask('PATCH', f'/v3/roles/{role}', {'role': changes})
        member = self.role(peer)
        peer.ask('PUT', f'/v3/roles/{role}/implies/{member}')
        peer.ask('PUT', f'/v3/roles/{role}/implies/{identity.NOWHERE}')
        peer.ask('PUT', f'/v3/roles/{member}/implies/{member}')
        peer.ask('DELETE', f'/v3/roles/{role}/implies/{member}')
        peer.ask('DELETE', f'/v3/roles/{role}/implies/{member}')
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, f'/v3/roles/{role}')

    @base.same
    def test_roles_of_the_bootstrap(self, peer):
        for name in ('admin', 'member', 'reader', 'service'):
            peer.ask('GET', f'/v3/roles?name={name}')

    # ---- assignments ----

    @base.same
    def test_grants(self, peer):
        user, project = self.member(peer)
        role, reader = self.role(peer), self.role(peer, 'reader')
        roles = f'/v3/projects/{project}/users/{user}/roles'
        for one in (role, reader, identity.NOWHERE):
            peer.ask('HEAD', f'{roles}/{one}')
            peer.ask('GET', f'{roles}/{one}')
            peer.ask('DELETE', f'{roles}/{one}')
        peer.ask('GET', roles)
        peer.ask('PUT', f'{roles}/{identity.NOWHERE}')
        peer.ask('PUT', f'/v3/projects/{identity.NOWHERE}/users/{user}/roles/{role}')
        peer.ask('PUT', f'/v3/projects/{project}/users/{identity.NOWHERE}/roles/{role}')
        peer.ask('GET', f'/v3/projects/{identity.NOWHERE}/users/{user}/roles')

    @base.same
    def test_role_assignments(self, peer):
        user, project = self.member(peer)
        domain = self.domain(peer)
        role = self.role(peer)
        peer.ask('PUT', f'/v3/domains/{domain}/users/{user}/roles/{role}')
        for query in (
            f'user.id={user}',
            f'user.id={user}&effective',
            f'user.id={user}&include_names',
            f'user.id={user}&role.id={role}',
            f'scope.project.id={project}',
            f'scope.domain.id={domain}',
            f'user.id={identity.NOWHERE}',
            f'user.id={user}&scope.project.id={project}&include_names=true&effective=true',
        ):
            peer.ask('GET', f'/v3/role_assignments?{query}')

    @base.same
    def test_roles_on_the_system(self, peer):
        user, _project = self.member(peer)
        group = {'name': self._testMethodName, 'domain_id': 'default'}
        group = peer.made('/v3/groups', {'group': group})['id']
        role = peer.made('/v3/roles', {'role': {'name': self._testMethodName}})['id']
        for kind, actor in (('user', user), ('group', group)):
            path = f'/v3/system/{kind}s/{actor}/roles'
            for method in ('GET', 'DELETE', 'PUT', 'PUT', 'HEAD', 'GET'):
                peer.ask(method, f'{path}/{role}')
            peer.ask('GET', path)
            peer.ask('PUT', f'{path}/{identity.NOWHERE}')
            for query in ('', '&scope.system=all', '&include_names'):
                peer.ask('GET', f'/v3/role_assignments?{kind}.id={actor}{query}')
            peer.ask('DELETE', f'{path}/{role}')
            peer.ask('GET', path)
            nowhere = f'/v3/system/{kind}s/{identity.NOWHERE}/roles'
            peer.ask('GET', nowhere)
            peer.ask('PUT', f'{nowhere}/{role}')

    # ---- who may ----

    @base.same
    def test_what_members_may_not(self, peer):
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        other, elsewhere = self.user(peer, 'other'), self.project(peer, 'elsewhere')
        role, domain = self.role(peer), self.domain(peer)
        peer.headers['X-Auth-Token'] = token
        for path in (
            'users',
            'projects',
            'domains',
            'roles',
            'role_assignments',
            'services',
            'endpoints',
            f'users/{other}',
            f'projects/{elsewhere}',
            f'domains/{domain}',
            f'roles/{role}',
            f'users/{other}/projects',
            f'users/{identity.NOWHERE}',
            f'projects/{identity.NOWHERE}',
            f'role_assignments?user.id={user}',
        ):
            peer.ask('GET', f'/v3/{path}')
        for kind in ('user', 'project', 'domain', 'role'):
            peer.ask('POST', f'/v3/{kind}s', {kind: {'name': 'x'}})
        peer.ask('PATCH', f'/v3/users/{user}', {'user': {'name': 'x'}})
        peer.ask('DELETE', f'/v3/projects/{project}')

    # ---- catalog ----

    @base.same
    def test_a_service_that_is_not_there(self, peer):
        for path in (
            'services?type=none',
            'endpoints?service_id=none',
            f'services/{identity.NOWHERE}',
        ):
            peer.ask('GET', f'/v3/{path}')
        peer.ask('GET', f'/v3/endpoints/{identity.NOWHERE}')
        peer.ask('GET', '/v3/regions')

    @base.same
    def test_the_identity_service_in_the_catalog(self, peer):
        found = peer.ask('GET', '/v3/services?type=identity').json()['services'][0]['id']
        peer.ask('GET', f'/v3/services/{found}')
        for endpoint in peer.ask('GET', f'/v3/endpoints?service_id={found}').json()['endpoints']:
            peer.ask('GET', f'/v3/endpoints/{endpoint["id"]}')
            break

    # ---- methods ----

    @base.same
    def test_methods_that_are_not_there(self, peer):
        for method, path in (
            ('PUT', '/v3/users'),
            ('DELETE', '/v3/projects'),
            ('POST', '/v3/auth/projects'),
            ('PATCH', '/v3/auth/tokens'),
            ('PUT', '/v3/roles'),
        ):
            peer.ask(method, path)
