"""Registered limits and limits of projects, which the identity service keeps for others."""

from tests.unit.simcloud import base

V3 = '/identity/v3'
REGISTERED, LIMITS = f'{V3}/registered_limits', f'{V3}/limits'


class UnifiedLimitsTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.service_id = self.admin.get(f'{V3}/services?type=compute')['services'][0]['id']
        projects = self.admin.get(f'{V3}/projects')['projects']
        self.project_ids = {each['name']: each['id'] for each in projects}

    def register(self, *names, client=None, expect=201, **more):
        named = {'service_id': self.service_id, 'default_limit': 5, **more}
        body = {'registered_limits': [{**named, 'resource_name': name} for name in names]}
        answer = (client or self.admin).post(REGISTERED, body, expect=expect)
        return answer.get('registered_limits')

    def limit(self, name='servers', project='demo', client=None, expect=201, **more):
        values = {
            'service_id': self.service_id,
            'resource_name': name,
            'resource_limit': 2,
            'project_id': self.project_ids[project],
            **more,
        }
        answer = (client or self.admin).post(LIMITS, {'limits': [values]}, expect=expect)
        return answer.get('limits')

    def test_registered_limits(self):
        servers, cores = self.register('servers', 'class:VCPU')
        self.assertEqual((5, None), (servers['default_limit'], servers['region_id']))
        listed = self.demo.get(f'{REGISTERED}?service_id={self.service_id}')['registered_limits']
        self.assertEqual([cores, servers], listed)
        found = self.demo.get(f'{REGISTERED}?resource_name=servers')['registered_limits']
        self.assertEqual([servers], found)
        path = f'{REGISTERED}/{servers["id"]}'
        self.admin.request('PATCH', path, {'registered_limit': {'default_limit': -1}})
        self.assertEqual(-1, self.demo.get(path)['registered_limit']['default_limit'])
        self.admin.delete(path)
        self.demo.get(path, expect=404)

    def test_limits_of_projects(self):
        self.register('servers')
        (made,) = self.limit()
        (other,) = self.limit(project='admin')
        self.assertEqual([made], self.demo.get(LIMITS)['limits'])
        listed = self.admin.get(f'{LIMITS}?project_id={self.project_ids["admin"]}')['limits']
        self.assertEqual([other], listed)
        self.demo.get(f'{LIMITS}/{other["id"]}', expect=403)
        path = f'{LIMITS}/{made["id"]}'
        self.admin.request('PATCH', path, {'limit': {'resource_limit': 7}})
        self.assertEqual(7, self.demo.get(path)['limit']['resource_limit'])
        self.admin.delete(path)
        self.demo.get(path, expect=404)
        self.assertEqual('flat', self.demo.get(f'{LIMITS}/model')['model']['name'])

    def test_limits_of_a_deleted_project_are_deleted(self):
        self.register('servers')
        made = self.admin.post(f'{V3}/projects', {'project': {'name': 'short'}}, expect=201)
        self.project_ids['short'] = made['project']['id']
        self.limit(project='short')
        self.admin.delete(f'{V3}/projects/{made["project"]["id"]}')
        self.assertEqual([], self.admin.get(LIMITS)['limits'])

    def test_refused(self):
        self.register('servers', client=self.demo, expect=403)
        self.register('servers', expect=400, service_id='unknown')
        self.register('servers', expect=400, region_id='unknown')
        self.register('servers', expect=400, default_limit='5')
        self.limit(expect=403)
        (registered,) = self.register('servers')
        self.register('servers', expect=409)
        self.limit(client=self.demo, expect=403)
        self.limit(expect=400, project_id=None)
        self.limit(expect=400, project_id='unknown')
        self.limit(expect=400, domain_id='default')
        self.limit()
        self.limit(expect=409)
        path = f'{REGISTERED}/{registered["id"]}'
        self.admin.delete(path, expect=403)
        rename = {'registered_limit': {'resource_name': 'other'}}
        self.admin.request('PATCH', path, rename, expect=403)
        self.admin.request('PATCH', path, {'registered_limit': {}}, expect=400)
