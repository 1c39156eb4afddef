"""The catalog: what is configured, and what administrators make of it."""

from tests.unit.simcloud import base

V3 = '/identity/v3'


class CatalogTest(base.SimCloudTestCase):
    def entry(self, kind, client=None):
        """The entry of a type in the catalog of a token, or None."""
        catalog = (client or self.admin).get(f'{V3}/auth/catalog')['catalog']
        return next((one for one in catalog if one['type'] == kind), None)

    def service(self, kind):
        return self.admin.get(f'{V3}/services?type={kind}')['services'][0]

    def endpoint(self, service_id, interface='public'):
        path = f'{V3}/endpoints?service_id={service_id}&interface={interface}'
        return self.admin.get(path)['endpoints'][0]

    def patch(self, kind, found, **changes):
        return self.admin.request('PATCH', f'{V3}/{kind}s/{found}', {kind: changes})[kind]

    def test_what_is_created_is_in_tokens(self):
        body = {'type': 'dns', 'name': 'designate'}
        service = self.admin.post(f'{V3}/services', {'service': body})['service']
        body = {
            'service_id': service['id'],
            'interface': 'public',
            'url': 'http://dns.example/$(tenant_id)s',
            'region': 'elsewhere',
        }
        self.assertIsNotNone(self.entry('dns', self.demo))
        self.admin.post(f'{V3}/endpoints', {'endpoint': body})
        token = self.token('demo', 'pw-demo', 'demo')
        found = self.admin.get(f'{V3}/auth/tokens', headers={'X-Subject-Token': token})['token']
        entry = next(one for one in found['catalog'] if one['type'] == 'dns')
        self.assertEqual('designate', entry['name'])
        self.assertEqual(
            [f'http://dns.example/{found["project"]["id"]}'],
            [one['url'] for one in entry['endpoints']],
        )
        regions = self.admin.get(f'{V3}/regions')['regions']
        self.assertEqual(['RegionOne', 'elsewhere'], [one['id'] for one in regions])

    def test_a_configured_endpoint_keeps_up_with_its_address(self):
        service = self.service('compute')
        endpoint = self.endpoint(service['id'])
        self.patch('endpoint', endpoint['id'], enabled=False)
        self.assertEqual(
            ['admin', 'internal'],
            sorted(one['interface'] for one in self.entry('compute')['endpoints']),
        )
        self.wsgi = self.open(is_new=False, endpoints={'compute': 'http://nova.example/v2.1'})
        found = base.Client(self, self.wsgi, self.admin.headers)
        found = found.get(f'{V3}/endpoints/{endpoint["id"]}')['endpoint']
        self.assertEqual((False, 'http://nova.example/v2.1'), (found['enabled'], found['url']))

    def test_the_address_of_a_configured_endpoint_can_be_changed(self):
        endpoint = self.endpoint(self.service('image')['id'])
        for url in ('http://other.example/', 'http://another.example/'):
            self.patch('endpoint', endpoint['id'], url=url)
            urls = [one['url'] for one in self.entry('image')['endpoints']]
            self.assertIn(url, urls)
            self.assertNotIn(endpoint['url'], urls[:1])

    def test_a_configured_service_can_be_renamed_and_deleted(self):
        service = self.service('sharev2')
        self.patch('service', service['id'], name='shares')
        self.assertEqual('shares', self.entry('sharev2')['name'])
        self.admin.delete(f'{V3}/services/{service["id"]}')
        self.start(is_new=False)
        self.assertIsNone(self.entry('sharev2'))
        self.admin.get(f'{V3}/services/{service["id"]}', expect=404)
        path = f'{V3}/endpoints?service_id={service["id"]}'
        self.assertEqual([], self.admin.get(path)['endpoints'])

    def test_a_configured_region_without_endpoints_can_be_deleted_and_made_again(self):
        region = f'{V3}/regions/RegionOne'
        self.admin.delete(region, expect=403)
        for endpoint in self.admin.get(f'{V3}/endpoints')['endpoints']:
            self.admin.delete(f'{V3}/endpoints/{endpoint["id"]}')
        self.admin.delete(region)
        self.admin.get(region, expect=404)
        self.admin.post(f'{V3}/regions', {'region': {'id': 'RegionOne'}})
        self.admin.get(region)

    def test_a_region_below_itself_is_refused(self):
        self.admin.post(f'{V3}/regions', {'region': {'id': 'b', 'parent_region_id': 'RegionOne'}})
        for region, parent in (('b', 'b'), ('RegionOne', 'b')):
            body = {'region': {'parent_region_id': parent}}
            self.admin.request('PATCH', f'{V3}/regions/{region}', body, expect=400)

    def test_only_administrators_change_it(self):
        service = {'service': {'type': 'dns'}}
        self.demo.post(f'{V3}/services', service, expect=403)
        self.demo.post(f'{V3}/regions', {'region': {'id': 'x'}}, expect=403)
        self.demo.get(f'{V3}/regions/RegionOne')
        self.demo.get(f'{V3}/endpoints', expect=403)

    def test_a_project_is_limited_to_some_endpoints(self):
        project = self.admin.get(f'{V3}/projects?name=demo')['projects'][0]['id']
        endpoint = self.endpoint(self.service('image')['id'])['id']
        path = f'{V3}/OS-EP-FILTER/projects/{project}/endpoints'
        self.demo.put(f'{path}/{endpoint}', expect=403)
        self.admin.put(f'{path}/{endpoint}', expect=204)
        token = self.token('demo', 'pw-demo', 'demo')
        headers = {'X-Subject-Token': token}
        found = self.admin.get(f'{V3}/auth/tokens', headers=headers)['token']['catalog']
        self.assertEqual(['image'], [one['type'] for one in found])
        self.assertEqual([endpoint], [one['id'] for one in found[0]['endpoints']])
        self.assertIsNotNone(self.entry('compute'))
        self.admin.delete(f'{V3}/endpoints/{endpoint}')
        self.assertIsNotNone(self.entry('compute', self.demo))


class SeveralAddressesTest(base.SimCloudTestCase):
    """A cloud that listens on all addresses of its machine, or behind the port of a container."""

    OPTIONS = {'urls_by_request': True, 'internal_url': 'http://127.0.0.1:9'}

    def urls(self, host):
        """The public URLs in the catalog of a token that was asked for at a host."""
        body = base.login_body('demo', 'pw-demo', 'demo')
        sent = {'Host': host}
        token = self.anyone.post(f'{V3}/auth/tokens', body, headers=sent)['token']
        shown = self.demo.get(f'{V3}/auth/catalog', headers=sent)['catalog']
        self.assertEqual(token['catalog'], shown)
        return {
            one['url'].partition('/volume')[0].partition('/identity')[0]
            for entry in token['catalog']
            for one in entry['endpoints']
            if one['interface'] == 'public' and entry['type'] in ('identity', 'volumev3')
        }

    def test_the_catalog_names_where_it_was_asked(self):
        for host in ('nova-lite:8774', '192.0.2.1:32768', '[2001:db8::1]:80', 'cloud.example'):
            self.assertEqual({f'http://{host}'}, self.urls(host))

    def test_an_endpoint_elsewhere_that_begins_alike(self):
        """Only the cloud's own address is replaced."""
        service = self.admin.post(f'{V3}/services', {'service': {'type': 'other'}}, expect=201)
        other = {
            'service_id': service['service']['id'],
            'interface': 'public',
            'url': f'{base.URL}1/other',
        }
        self.admin.post(f'{V3}/endpoints', {'endpoint': other}, expect=201)
        shown = self.admin.get(f'{V3}/endpoints', headers={'Host': 'nova-lite:8774'})['endpoints']
        self.assertIn(other['url'], [each['url'] for each in shown])
        self.assertNotIn(base.URL, [each['url'] for each in shown])

    def test_what_is_no_host(self):
        for host in ('a"b', 'x/y', 'x y', 'x:123456', '<x>', ''):
            self.assertEqual({base.URL}, self.urls(host), host)

    def test_services_of_the_cloud(self):
        self.assertEqual({base.URL}, self.urls('127.0.0.1:9'))

    def test_links(self):
        sent = {'Host': 'nova-lite:1'}
        for path in ('/identity/v3', '/image/v2', '/network/v2.0', '/volume/v3', '/share/v2'):
            found = self.anyone.raw('GET', path, headers=sent).text
            self.assertIn('http://nova-lite:1/', found)
            self.assertNotIn(base.URL, found)
