"""Versions of the API: their documents, the headers that choose one, and refusals."""

from nova_lite.api import microversion
from tests.unit.api import test_protocol
from tests.unit.api.servers import base


class TestDocuments(test_protocol.Case):
    def test_root(self):
        answer = self.send('GET', '/', named=False)
        found = {each['id']: each for each in answer.json['versions']}
        self.assertEqual({'v2.0', 'v2.1'}, set(found))
        self.assertEqual(
            ('2.1', base.NEWEST), (found['v2.1']['min_version'], found['v2.1']['version'])
        )
        self.assertEqual('http://falconframework.org/v2.1/', found['v2.1']['links'][0]['href'])

    def test_one_version(self):
        answer = self.send('GET', '/v2.1/', named=False)
        self.assertEqual(base.NEWEST, answer.json['version']['version'])
        self.assertEqual('', self.send('GET', '/v2/', named=False).json['version']['version'])

    def test_one_version_by_name(self):
        for name, path in (('v2.1', '/v2.1/'), ('v2.0', '/v2/')):
            answer = self.send('GET', f'/v2.1/versions/{name}')
            self.assertEqual(self.send('GET', path, named=False).json, answer.json)
        self.refused(404, 'itemNotFound', 'GET', '/v2.1/versions/v3')

    def test_version_headers(self):
        wanted = {'OpenStack-API-Version': 'compute 2.50'}
        for path in ('/v2.1/', '/v2.1', '/v2.1/alpha/'):
            answer = self.send('GET', path, headers=wanted)
            self.assertEqual('compute 2.50', answer.headers['OpenStack-API-Version'])
            self.assertEqual('2.50', answer.headers['X-OpenStack-Nova-API-Version'])
            self.assertIn('OpenStack-API-Version', answer.headers['Vary'])
        for path in ('/', '/v2/'):
            answer = self.send('GET', path, named=False, headers=wanted)
            self.assertNotIn('OpenStack-API-Version', answer.headers)
        for text, code, key in (
            ('9.9', 406, 'computeFault'),
            (f'2.{"9" * 30}', 406, 'computeFault'),
            ('2.x', 400, 'badRequest'),
        ):
            headers = {'OpenStack-API-Version': f'compute {text}'}
            for path in ('/v2.1/', '/v2.1'):
                self.refused(code, key, 'GET', path, named=False, headers=headers)
            self.refused(code, key, 'GET', '/v2.1/be7a/', headers=headers)

    def test_documents_below_projects(self):
        """For callers with a token, by GET, and only of their own project."""
        for root in ('/v2.1', '/v2'):
            path = f'{root}/alpha/'
            document = self.send('GET', f'{root}/', named=False).json
            self.assertEqual(document, self.send('GET', path).json)
            self.refused(401, 'unauthorized', 'GET', path, named=False)
            answer = self.refused(400, 'badRequest', 'GET', f'{root}/be7a/')
            message = "URL's project_id 'be7a' doesn't match Context's project_id 'alpha'"
            self.assertIn(message, answer.text)
            for method, other in (
                ('POST', path),
                ('DELETE', path),
                ('GET', path[:-1]),
                ('GET', '/v2.1/beta/'),
            ):
                self.assertEqual(404, self.send(method, other).status_code, (method, other))

    def test_status(self):
        found = {each['id']: each for each in self.send('GET', '/').json['versions']}
        self.assertEqual(
            {
                'v2.1': ('CURRENT', '2013-07-23T11:33:21Z'),
                'v2.0': ('DEPRECATED', '2025-07-04T12:00:00Z'),
            },
            {name: (each['status'], each['updated']) for name, each in found.items()},
        )

    def test_all_methods(self):
        """Balancers look at documents with HEAD or OPTIONS, and do not follow redirections."""
        for path, same in (('/', '/'), ('/v2.1', '/v2.1/'), ('/v2.1/', '/v2.1/'), ('/v2', '/v2/')):
            document = self.send('GET', same, named=False).json
            for method in ('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'):
                answer = self.send(method, path, named=False)
                self.assertEqual(200, answer.status_code, (method, path))
                if method != 'HEAD':
                    self.assertEqual(document, answer.json)

    def test_options(self):
        """As of nova's filter for CORS, which comes before tokens are checked."""
        for path in ('/v2.1/servers', '/v2/servers', '/v2.1/no-such', '/v3'):
            answer = self.send('OPTIONS', path, named=False)
            self.assertEqual((200, ''), (answer.status_code, answer.text))

    def test_below_a_mount_point(self):
        answer = self.send('GET', '/v2.1/', named=False, root_path='/compute')
        link = answer.json['version']['links'][0]['href']
        self.assertEqual('http://falconframework.org/compute/v2.1/', link)

    def test_no_such_version(self):
        for path in ('/v3', '/v1.1/', '/v2.1servers', '/v3/servers'):
            answer = self.send('GET', path, named=False)
            self.assertEqual(300, answer.status_code)
        self.assertEqual({'v2.0', 'v2.1'}, {each['id'] for each in answer.json['choices']})


class TestVersions(test_protocol.Case):
    def versions(self, **headers):
        answer = self.send('GET', '/v2.1/flavors', headers=headers)
        return answer.headers.get('OpenStack-API-Version'), answer.headers.get(
            'X-OpenStack-Nova-API-Version'
        )

    def test_both_headers(self):
        new, old = 'OpenStack-API-Version', 'X-OpenStack-Nova-API-Version'
        self.assertEqual(('compute 2.1', '2.1'), self.versions())
        self.assertEqual(('compute 2.90', '2.90'), self.versions(**{new: 'compute 2.90'}))
        self.assertEqual(('compute 2.30', '2.30'), self.versions(**{old: '2.30'}))
        self.assertEqual(('compute 2.5', '2.5'), self.versions(**{new: 'compute 2.5', old: '2.6'}))
        self.assertEqual(('compute 2.1', '2.1'), self.versions(**{new: 'volume 3.5'}))
        self.assertEqual(
            (f'compute {base.NEWEST}', base.NEWEST), self.versions(**{new: 'compute latest'})
        )

    def test_vary(self):
        vary = self.send('GET', '/v2.1/flavors').headers['Vary']
        self.assertIn('OpenStack-API-Version', vary)
        self.assertIn('X-OpenStack-Nova-API-Version', vary)

    def test_refused(self):
        for text in (f'2.{microversion.MAXIMUM.minor + 1}', '3.0', '1.1', '2.0'):
            headers = {'OpenStack-API-Version': f'compute {text}'}
            answer = self.refused(406, 'computeFault', 'GET', '/v2.1/flavors', headers=headers)
            self.assertIn(f'Minimum is 2.1 and maximum is {base.NEWEST}', answer.text)
            self.assertEqual(f'compute {text}', answer.headers['OpenStack-API-Version'])
            self.assertIn('OpenStack-API-Version', answer.headers['Vary'])
        for text in ('x', '2', '2.01', '2.1.1', '-2.1', '2.' + '9' * 101):
            headers = {'X-OpenStack-Nova-API-Version': text}
            self.refused(400, 'badRequest', 'GET', '/v2.1/flavors', headers=headers)

    def test_history(self):
        numbers = [microversion.parse(text).minor for text, _remark in microversion.VERSIONS]
        self.assertEqual(list(range(1, len(numbers) + 1)), numbers)

    def test_v2_has_none(self):
        headers = {'OpenStack-API-Version': 'compute 2.90'}
        answer = self.send('GET', '/v2/flavors', headers=headers)
        self.assertEqual(200, answer.status_code)
        self.assertNotIn('OpenStack-API-Version', answer.headers)

    def test_operation_of_another_version(self):
        path = '/v2.1/servers/1/tags'
        answer = self.refused(404, 'itemNotFound', 'GET', path)
        self.assertIn('2.1', answer.text)
