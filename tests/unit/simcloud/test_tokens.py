"""Logging in, validating, revoking."""

import testtools

from nova_lite.simcloud import app
from nova_lite.simcloud.identity import tokens
from tests.unit.simcloud import base

TOKENS = '/identity/v3/auth/tokens'


class TokenTestCase(base.SimCloudTestCase):
    def test_scoped_token_says_who_where_and_what(self):
        result = self.anyone.raw('POST', TOKENS, base.login_body('admin', 'pw-admin', 'admin'))
        token = result.json['token']
        self.assertEqual('admin', token['project']['name'])
        self.assertEqual({'id': 'default', 'name': 'Default'}, token['user']['domain'])
        self.assertEqual(
            ['admin', 'manager', 'member', 'reader'], [role['name'] for role in token['roles']]
        )
        urls = {entry['type']: entry['endpoints'][0]['url'] for entry in token['catalog']}
        self.assertEqual(f'{base.URL}/compute/v2.1', urls['compute'])
        self.assertEqual(f'{base.URL}/placement', urls['placement'])
        self.assertEqual(f'{base.URL}/volume/v3/{token["project"]["id"]}', urls['volumev3'])
        interfaces = {one['interface'] for one in token['catalog'][0]['endpoints']}
        self.assertEqual({'public', 'internal', 'admin'}, interfaces)

    def test_no_token_starts_like_an_option(self):
        self.assertEqual(tokens.FIRST, self.token('demo', 'pw-demo')[0])

    def test_unscoped_token_can_be_exchanged(self):
        secret = self.token('demo', 'pw-demo')
        client = base.Client(self, self.wsgi, {'X-Auth-Token': secret})
        shown = client.get(TOKENS, headers={'X-Subject-Token': secret})['token']
        self.assertNotIn('project', shown)
        projects = client.get('/identity/v3/auth/projects')['projects']
        self.assertEqual(['demo'], [project['name'] for project in projects])
        scoped = client.post(
            TOKENS,
            {
                'auth': {
                    'identity': {'methods': ['token'], 'token': {'id': secret}},
                    'scope': {'project': {'id': projects[0]['id']}},
                }
            },
        )['token']
        self.assertEqual('demo', scoped['project']['name'])
        self.assertEqual(shown['expires_at'], scoped['expires_at'])
        self.assertEqual(['password', 'token'], scoped['methods'])

    def test_wrong_logins_are_all_the_same(self):
        for user, password, project in (
            ('admin', 'no', 'admin'),
            ('nobody', 'pw-admin', 'admin'),
            ('demo', 'pw-demo', 'admin'),
            ('demo', 'pw-demo', 'nowhere'),
        ):
            result = self.anyone.raw('POST', TOKENS, base.login_body(user, password, project))
            self.assertEqual(401, result.status_code)
            self.assertEqual(
                'The request you have made requires authentication.',
                result.json['error']['message'],
            )

    def test_services_validate_any_token_users_only_their_own(self):
        nova = self.login('nova', 'pw-service', 'service')
        secret = self.demo.headers['X-Auth-Token']
        token = nova.get(TOKENS, headers={'X-Subject-Token': secret})['token']
        self.assertEqual('demo', token['user']['name'])
        self.demo.get(TOKENS, headers={'X-Subject-Token': secret})
        self.demo.get(
            TOKENS, expect=403, headers={'X-Subject-Token': self.admin.headers['X-Auth-Token']}
        )
        nova.get(TOKENS, expect=404, headers={'X-Subject-Token': 'unheard-of'})
        self.anyone.get(TOKENS, expect=401, headers={'X-Subject-Token': secret})

    def test_nocatalog_leaves_the_catalog_out(self):
        secret = self.admin.headers['X-Auth-Token']
        token = self.admin.get(f'{TOKENS}?nocatalog', headers={'X-Subject-Token': secret})
        self.assertNotIn('catalog', token['token'])

    def test_revoked_token_is_refused_everywhere(self):
        secret = self.demo.headers['X-Auth-Token']
        other = self.open()
        headers = {'X-Auth-Token': secret}
        self.assertEqual(200, other.simulate_get('/image/v2/images', headers=headers).status_code)
        self.demo.delete(TOKENS, headers={'X-Subject-Token': secret})
        self.demo.get('/image/v2/images', expect=401)
        self.assertEqual(401, other.simulate_get('/image/v2/images', headers=headers).status_code)

    def test_what_voids_a_token(self):
        users = self.admin.get('/identity/v3/users?name=demo')['users']
        user = f'/identity/v3/users/{users[0]["id"]}'
        project = self.demo.get('/identity/v3/auth/projects')['projects'][0]['id']
        role = self.admin.get('/identity/v3/roles?name=member')['roles'][0]['id']
        reader = self.admin.get('/identity/v3/roles?name=reader')['roles'][0]['id']
        grants = f'/identity/v3/projects/{project}/users/{users[0]["id"]}/roles'
        patch = {'user': {'enabled': False}}, {'user': {'enabled': True}}
        self.admin.request('PATCH', user, patch[0])
        self.demo.get('/image/v2/images', expect=401)
        self.admin.request('PATCH', user, patch[1])
        self.demo.get('/image/v2/images')
        self.admin.delete(f'{grants}/{role}')
        self.admin.delete(f'{grants}/{reader}')
        self.demo.get('/image/v2/images', expect=401)
        self.admin.put(f'{grants}/{role}', expect=204)
        self.demo.get('/image/v2/images')
        self.admin.request('PATCH', user, {'user': {'password': 'new'}})
        self.demo.get('/image/v2/images', expect=401)
        self.token('demo', 'pw-demo', 'demo', expect=401)
        self.token('demo', 'new', 'demo')

    def test_refusal_names_the_identity_service(self):
        result = self.anyone.raw('GET', '/network/v2.0/networks')
        self.assertEqual(401, result.status_code)
        self.assertEqual(f'Keystone uri="{base.URL}/identity"', result.headers['www-authenticate'])

    def test_version_documents_need_no_token(self):
        for path, status in (
            ('/identity', 300),
            ('/identity/v3/', 200),
            ('/image', 300),
            ('/image/versions', 200),
            ('/network/', 200),
            ('/volume', 300),
            ('/volume/v3/', 200),
        ):
            self.anyone.get(path, expect=status)

    def test_paths_that_do_not_exist_need_no_token(self):
        """Keystone answers 404 there; the other services ask for a token first."""
        for path in ('/identity/v2.0', '/identity/v3/nosuch', '/identity/v3/users/1/nosuch'):
            self.anyone.get(path, expect=404)
        self.anyone.get('/identity/v3/users', expect=401)
        self.anyone.get('/image/v2/nosuch', expect=401)


class ExpiredTokenTestCase(base.SimCloudTestCase):
    OPTIONS = {'token_lifetime_s': -1, 'auth': 'noauth'}

    def test_expired_token_serves_only_services_that_ask(self):
        secret = self.demo.headers['X-Auth-Token']
        nova = self.believed('nova', 'service', 'service')
        subject = {'X-Subject-Token': secret}
        nova.get(TOKENS, expect=404, headers=subject)
        token = nova.get(f'{TOKENS}?allow_expired=1', headers=subject)['token']
        self.assertEqual('demo', token['user']['name'])
        self.demo.get('/image/v2/images', expect=401)


class KeystoneOnlyTestCase(base.SimCloudTestCase):
    OPTIONS = {}

    def test_headers_are_not_believed(self):
        self.believed('root', 'p', 'admin').get('/image/v2/images', expect=401)

    def test_service_token_lets_an_expired_token_work(self):
        short = base.Client(
            self,
            self.open(token_lifetime_s=-1),
            {},
        )
        result = short.raw('POST', TOKENS, base.login_body('demo', 'pw-demo', 'demo'))
        expired = {'X-Auth-Token': result.headers['x-subject-token']}
        self.anyone.get('/image/v2/images', expect=401, headers=expired)
        self.anyone.get(
            '/image/v2/images',
            headers={**expired, 'X-Service-Token': self.token('nova', 'pw-service', 'service')},
        )


class OptionsTestCase(testtools.TestCase):
    def test_unknown_options_are_refused(self):
        self.assertRaises(TypeError, app.make_app, '/nowhere', base.URL, options={'colour': 'red'})
        self.assertRaises(ValueError, app.make_app, '/nowhere', base.URL, options={'auth': 'no'})
