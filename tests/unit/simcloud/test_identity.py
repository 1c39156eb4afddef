"""Projects, users, roles, assignments and the catalog."""

from tests.unit.simcloud import base

V3 = '/identity/v3'


class IdentityTestCase(base.SimCloudTestCase):
    def test_projects_have_a_life(self):
        made = self.admin.post(
            f'{V3}/projects',
            {'project': {'name': 'p', 'description': 'd', 'is_domain': False, 'colour': 'red'}},
        )['project']
        self.assertEqual(
            ('p', 'default', 'default', True, 'red'),
            (made['name'], made['domain_id'], made['parent_id'], made['enabled'], made['colour']),
        )
        self.admin.post(f'{V3}/projects', {'project': {'name': 'p'}}, expect=409)
        path = f'{V3}/projects/{made["id"]}'
        self.admin.request('PATCH', path, {'project': {'name': 'q', 'enabled': False}})
        found = self.admin.get(f'{V3}/projects?name=q&enabled=false')['projects']
        self.assertEqual([made['id']], [one['id'] for one in found])
        self.admin.delete(path)
        self.admin.get(path, expect=404)

    def test_projects_above_and_below(self):
        ids = ['default']
        for name in ('top', 'middle', 'low'):
            body = {'project': {'name': name, 'parent_id': ids[-1]}}
            ids.append(self.admin.post(f'{V3}/projects', body)['project']['id'])
        domain, top, middle, low = ids
        path = f'{V3}/projects/{middle}'
        found = self.admin.get(f'{path}?parents_as_ids&subtree_as_ids')['project']
        self.assertEqual(({top: {domain: None}}, {low: None}), (found['parents'], found['subtree']))
        query = 'parents_as_list&subtree_as_list'
        found = self.admin.get(f'{path}?{query}')['project']
        self.assertEqual(([], []), (found['parents'], found['subtree']))
        admin = self.admin.get(f'{V3}/users?name=admin')['users'][0]['id']
        role = self.admin.get(f'{V3}/roles?name=reader')['roles'][0]['id']
        for one in (top, low):
            self.admin.put(f'{V3}/projects/{one}/users/{admin}/roles/{role}', expect=204)
        found = self.admin.get(f'{path}?{query}')['project']
        self.assertEqual(['top'], [one['project']['name'] for one in found['parents']])
        self.assertEqual(['low'], [one['project']['name'] for one in found['subtree']])
        self.admin.get(f'{path}?parents_as_list&parents_as_ids', expect=400)
        self.assertNotIn('parents', self.admin.get(path)['project'])

    def test_users_log_in_where_they_have_roles(self):
        project = self.admin.post(f'{V3}/projects', {'project': {'name': 'p'}})['project']['id']
        user = self.admin.post(
            f'{V3}/users',
            {
                'user': {
                    'name': 'u',
                    'password': 'w',
                    'email': 'u@example.org',
                    'default_project_id': project,
                }
            },
        )['user']
        self.assertEqual('u@example.org', user['email'])
        self.assertNotIn('password', user)
        self.token('u', 'w', 'p', expect=401)
        role = self.admin.get(f'{V3}/roles?name=manager')['roles'][0]['id']
        grant = f'{V3}/projects/{project}/users/{user["id"]}/roles/{role}'
        self.admin.request('HEAD', grant, expect=404)
        self.admin.put(grant, expect=204)
        self.admin.put(grant, expect=204)
        self.admin.request('HEAD', grant, expect=204)
        secret = self.token('u', 'w', 'p')
        token = self.admin.get(f'{V3}/auth/tokens', headers={'X-Subject-Token': secret})
        self.assertEqual(
            ['manager', 'member', 'reader'], [one['name'] for one in token['token']['roles']]
        )
        self.admin.delete(f'{V3}/users/{user["id"]}')
        self.token('u', 'w', 'p', expect=401)

    def test_users_change_their_own_password(self):
        user_id = self.admin.get(f'{V3}/users?name=demo')['users'][0]['id']
        path = f'{V3}/users/{user_id}/password'
        self.demo.post(path, {'user': {'password': 'n', 'original_password': 'x'}}, expect=401)
        self.demo.post(
            path, {'user': {'password': 'n', 'original_password': 'pw-demo'}}, expect=204
        )
        self.token('demo', 'n', 'demo')

    def test_users_see_themselves_and_no_others(self):
        users = {one['name']: one['id'] for one in self.admin.get(f'{V3}/users')['users']}
        self.demo.get(f'{V3}/users/{users["demo"]}')
        self.demo.get(f'{V3}/users/{users["admin"]}', expect=403)
        self.demo.get(f'{V3}/users/{users["demo"]}/projects')
        own = self.demo.get(f'{V3}/auth/projects')['projects'][0]['id']
        self.demo.get(f'{V3}/projects/{own}')
        other = self.admin.get(f'{V3}/projects?name=admin')['projects'][0]['id']
        self.demo.get(f'{V3}/projects/{other}', expect=403)
        for path in ('projects', 'users', 'roles', 'domains', 'role_assignments', 'services'):
            self.demo.get(f'{V3}/{path}', expect=403)

    def test_assignments_are_listed_with_names_and_effect(self):
        user_id = self.admin.get(f'{V3}/users?name=admin')['users'][0]['id']
        path = f'{V3}/role_assignments?user.id={user_id}&include_names=1'
        found = self.admin.get(path)['role_assignments']
        self.assertEqual(
            {('admin', 'admin', 'project', 'admin'), ('admin', 'admin', 'domain', 'Default')},
            {
                (one['user']['name'], one['role']['name'], kind, target['name'])
                for one in found
                for kind, target in one['scope'].items()
            },
        )
        effective = self.admin.get(f'{path}&effective')['role_assignments']
        self.assertEqual(
            {'admin', 'manager', 'member', 'reader'}, {one['role']['name'] for one in effective}
        )

    def test_assignments_of_two_scopes_are_refused(self):
        path = f'{V3}/role_assignments?scope.project.id=1&scope'
        self.admin.get(f'{path}.domain.id=2', expect=400)
        self.admin.get(f'{path}.system=all', expect=400)

    def test_roles_on_the_system(self):
        user = self.admin.get(f'{V3}/users?name=demo')['users'][0]['id']
        role = self.admin.get(f'{V3}/roles?name=reader')['roles'][0]['id']
        path = f'{V3}/system/users/{user}/roles'
        self.demo.put(f'{path}/{role}', expect=403)
        self.admin.put(f'{path}/{role}', expect=204)
        self.assertEqual([role], [one['id'] for one in self.admin.get(path)['roles']])
        assigned = f'{V3}/role_assignments?user.id={user}&scope.system=all'
        (found,) = self.admin.get(assigned)['role_assignments']
        self.assertEqual({'system': {'all': True}}, found['scope'])
        self.admin.delete(f'{path}/{role}')
        self.admin.delete(f'{path}/{role}', expect=404)
        self.assertEqual([], self.admin.get(assigned)['role_assignments'])

    def test_inherited_assignments_are_listed_as_such(self):
        user_id = self.admin.get(f'{V3}/users?name=nova')['users'][0]['id']
        path = f'{V3}/role_assignments?user.id={user_id}&include_names=1'
        found = self.admin.get(path)['role_assignments']
        scopes = {one['role']['name']: one['scope'] for one in found}
        self.assertEqual({'admin', 'service', 'member'}, set(scopes))
        self.assertEqual('projects', scopes['member']['OS-INHERIT:inherited_to'])
        self.assertEqual('Default', scopes['member']['domain']['name'])

    def test_roles_do_not_imply_in_circles(self):
        roles = {one['name']: one['id'] for one in self.admin.get(f'{V3}/roles')['roles']}
        self.admin.put(f'{V3}/roles/{roles["reader"]}/implies/{roles["admin"]}', expect=409)
        made = self.admin.post(f'{V3}/roles', {'role': {'name': 'operator'}})['role']['id']
        self.admin.put(f'{V3}/roles/{made}/implies/{roles["reader"]}', expect=201)
        self.admin.delete(f'{V3}/roles/{made}')
        names = [
            one['prior_role']['name']
            for one in self.admin.get(f'{V3}/role_inferences')['role_inferences']
        ]
        self.assertEqual(['admin', 'manager', 'member'], sorted(names))

    def test_domains_go_with_all_in_them(self):
        domain = self.admin.post(f'{V3}/domains', {'domain': {'name': 'd'}})['domain']['id']
        for kind in ('project', 'user'):
            self.admin.post(f'{V3}/{kind}s', {kind: {'name': 'x', 'domain_id': domain}})
        self.admin.delete(f'{V3}/domains/{domain}', expect=403)
        self.admin.request('PATCH', f'{V3}/domains/{domain}', {'domain': {'enabled': False}})
        self.admin.delete(f'{V3}/domains/{domain}')
        self.assertEqual([], self.admin.get(f'{V3}/users?domain_id={domain}')['users'])

    def test_catalog_is_listed(self):
        services = self.admin.get(f'{V3}/services')['services']
        self.assertIn('compute', [one['type'] for one in services])
        endpoints = self.admin.get(f'{V3}/endpoints?interface=public')['endpoints']
        self.assertEqual(len(services), len(endpoints))
        self.admin.get(f'{V3}/endpoints/{endpoints[0]["id"]}')
        self.assertEqual('RegionOne', self.admin.get(f'{V3}/regions')['regions'][0]['id'])
