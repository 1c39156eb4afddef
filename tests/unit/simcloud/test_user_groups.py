"""Groups of users: their members, and the roles that the members have through them."""

from tests.unit.simcloud import base

V3 = '/identity/v3'


class GroupsTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.user = self.id_of('users', 'demo')

    def id_of(self, kind, name):
        return self.admin.get(f'{V3}/{kind}?name={name}')[kind][0]['id']

    def group(self, name='g', *, expect=201, **values):
        answer = self.admin.post(f'{V3}/groups', {'group': {'name': name, **values}}, expect=expect)
        return answer.get('group') or answer['error']

    def join(self, group):
        self.admin.put(f'{V3}/groups/{group["id"]}/users/{self.user}', expect=204)

    def grant(self, group, kind, target_id, role='member'):
        path = f'{V3}/{kind}s/{target_id}/groups/{group["id"]}/roles'
        self.admin.put(f'{path}/{self.id_of("roles", role)}', expect=204)
        return path

    def test_members_have_the_roles_of_their_groups(self):
        service = self.id_of('projects', 'service')
        made = self.group()
        path = self.grant(made, 'project', service)
        self.assertEqual(['member'], [one['name'] for one in self.admin.get(path)['roles']])
        self.token('demo', 'pw-demo', 'service', expect=401)
        self.join(made)
        member = self.login('demo', 'pw-demo', 'service')
        member.get('/volume/v3/volumes')
        self.admin.delete(f'{V3}/groups/{made["id"]}/users/{self.user}')
        member.get('/volume/v3/volumes', expect=401)
        self.join(made)
        self.login('demo', 'pw-demo', 'service')
        self.admin.delete(f'{path}/{self.id_of("roles", "member")}')
        self.admin.delete(f'{path}/{self.id_of("roles", "member")}', expect=404)
        self.token('demo', 'pw-demo', 'service', expect=401)

    def test_assignments_name_the_group_or_its_members(self):
        service = self.id_of('projects', 'service')
        made = self.group()
        self.grant(made, 'project', service)
        self.grant(made, 'domain', 'default', 'reader')
        self.join(made)
        path = f'{V3}/role_assignments'
        found = self.admin.get(f'{path}?group.id={made["id"]}&include_names')['role_assignments']
        self.assertEqual(['g', 'g'], [one['group']['name'] for one in found])
        self.assertIn(f'/groups/{made["id"]}/roles/', found[0]['links']['assignment'])
        query = f'?user.id={self.user}&scope.project.id={service}&effective'
        found = self.admin.get(f'{path}{query}')['role_assignments']
        self.assertEqual([self.user, self.user], [one['user']['id'] for one in found])
        link = found[0]['links']['membership']
        self.assertTrue(link.endswith(f'/groups/{made["id"]}/users/{self.user}'), link)
        for query in ('effective', f'user.id={self.user}'):
            self.admin.get(f'{path}?group.id={made["id"]}&{query}', expect=400)

    def test_what_is_deleted_leaves_nothing(self):
        made, other = self.group(), self.group('h')
        project = self.admin.post(f'{V3}/projects', {'project': {'name': 'p'}})['project']['id']
        for group in (made, other):
            self.grant(group, 'project', project)
            self.join(group)
        self.admin.delete(f'{V3}/groups/{made["id"]}')
        self.admin.delete(f'{V3}/projects/{project}')
        path = f'{V3}/role_assignments?group.id={other["id"]}'
        self.assertEqual([], self.admin.get(path)['role_assignments'])
        (left,) = self.demo.get(f'{V3}/users/{self.user}/groups')['groups']
        self.assertEqual(other['id'], left['id'])
        self.admin.delete(f'{V3}/users/{self.user}')
        self.assertEqual([], self.admin.get(f'{V3}/groups/{other["id"]}/users')['users'])

    def test_groups_of_a_domain_go_with_it(self):
        domain = self.admin.post(f'{V3}/domains', {'domain': {'name': 'd'}})['domain']['id']
        made = self.group(domain_id=domain)
        # Another domain may have the same name.
        self.group()
        self.assertEqual(409, self.group(expect=409)['code'])
        path = f'{V3}/groups/{made["id"]}'
        self.admin.request('PATCH', path, {'group': {'domain_id': 'default'}}, expect=400)
        self.admin.request('PATCH', path, {'group': {'description': None, 'name': 'n'}})
        self.admin.request('PATCH', f'{V3}/domains/{domain}', {'domain': {'enabled': False}})
        self.admin.delete(f'{V3}/domains/{domain}')
        self.admin.get(path, expect=404)

    def test_who_may(self):
        made = self.group()
        path = f'{V3}/groups/{made["id"]}'
        other = self.id_of('users', 'admin')
        for method, target in (
            ('GET', f'{V3}/groups'),
            ('GET', f'{path}/users'),
            ('PUT', f'{path}/users/{self.user}'),
            ('DELETE', path),
            ('GET', f'{V3}/users/{other}/groups'),
            ('POST', f'{V3}/groups'),
        ):
            self.demo.request(method, target, {}, expect=403)
        self.admin.get(f'{path}/users/{self.user}', expect=404)
        self.admin.put(f'{path}/users/nobody', expect=404)
        self.join(made)
        self.admin.get(f'{path}/users/{self.user}', expect=204)
