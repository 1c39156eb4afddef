"""Application credentials: made by users, used instead of passwords, void in time."""

from nova_lite.simcloud.identity import tables
from tests.unit.simcloud import base

V3 = '/identity/v3'


class ApplicationCredentialsTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        users = {one['name']: one['id'] for one in self.admin.get(f'{V3}/users')['users']}
        self.user = users['demo']
        self.path = f'{V3}/users/{self.user}/application_credentials'

    def make(self, client=None, expect=201, **values):
        body = {'application_credential': {'name': 'ci', **values}}
        answer = (client or self.demo).post(self.path, body, expect=expect)
        return answer['application_credential'] if expect == 201 else answer

    def log_in(self, expect=201, scope=None, **reference):
        identity = {'methods': ['application_credential'], 'application_credential': reference}
        auth = {'identity': identity, **({'scope': scope} if scope else {})}
        answer = self.anyone.raw('POST', f'{V3}/auth/tokens', {'auth': auth})
        self.assertEqual(expect, answer.status_code, answer.text)
        return base.Client(
            self, self.wsgi, {'X-Auth-Token': answer.headers.get('X-Subject-Token', '')}
        )

    def token_of(self, client):
        headers = {'X-Subject-Token': client.headers['X-Auth-Token']}
        return client.get(f'{V3}/auth/tokens', headers=headers)['token']

    def test_life(self):
        made = self.make(description='for CI')
        secret = made.pop('secret')
        self.assertEqual(
            ('ci', 'for CI', False),
            tuple(made[name] for name in ('name', 'description', 'unrestricted')),
        )
        self.assertEqual(['member', 'reader'], [role['name'] for role in made['roles']])
        self.assertEqual([made], self.demo.get(f'{self.path}?name=ci')['application_credentials'])
        one = f'{self.path}/{made["id"]}'
        self.assertEqual(made, self.demo.get(one)['application_credential'])
        self.make(expect=409)
        client = self.log_in(id=made['id'], secret=secret)
        self.log_in(name='ci', user={'id': self.user}, secret=secret)
        self.log_in(name='ci', user={'name': 'demo', 'domain': {'id': 'default'}}, secret=secret)
        token = self.token_of(client)
        self.assertEqual(made['project_id'], token['project']['id'])
        self.assertEqual(
            {'id': made['id'], 'name': 'ci', 'restricted': True}, token['application_credential']
        )
        client.get('/network/v2.0/networks')
        self.demo.delete(one)
        client.get('/network/v2.0/networks', expect=401)
        self.log_in(404, id=made['id'], secret=secret)

    def test_wrong_secrets(self):
        made = self.make(secret='chosen')
        self.log_in(id=made['id'], secret='chosen')
        self.log_in(401, id=made['id'], secret='other')
        self.log_in(404, id='unknown', secret='chosen')
        self.log_in(
            401, scope={'project': {'id': made['project_id']}}, id=made['id'], secret='chosen'
        )
        self.log_in(400, name='ci', secret='chosen')

    def test_fewer_roles(self):
        made = self.make(roles=[{'name': 'reader'}])
        client = self.log_in(id=made['id'], secret=made['secret'])
        self.assertEqual(['reader'], [one['name'] for one in self.token_of(client)['roles']])
        client.post('/network/v2.0/networks', {'network': {}}, expect=403)
        self.make(expect=400, name='more', roles=[{'name': 'admin'}])

    def test_the_scope_stays_when_a_token_is_exchanged(self):
        made = self.make(roles=[{'name': 'reader'}])
        client = self.log_in(id=made['id'], secret=made['secret'])
        identity = {'methods': ['token'], 'token': {'id': client.headers['X-Auth-Token']}}
        answer = self.anyone.raw('POST', f'{V3}/auth/tokens', {'auth': {'identity': identity}})
        self.assertEqual(['reader'], [one['name'] for one in answer.json['token']['roles']])
        scope = {'project': {'id': made['project_id']}}
        body = {'auth': {'identity': identity, 'scope': scope}}
        self.assertEqual(401, self.anyone.raw('POST', f'{V3}/auth/tokens', body).status_code)

    def test_restricted_ones_make_no_others(self):
        made = self.make()
        client = self.log_in(id=made['id'], secret=made['secret'])
        self.make(client, expect=403, name='another')
        made = self.make(name='free', unrestricted=True)
        self.make(self.log_in(id=made['id'], secret=made['secret']), name='another')

    def test_expiry(self):
        self.make(expect=400, expires_at='2001-01-01T00:00:00')
        self.make(expect=400, expires_at='tomorrow')
        made = self.make(expires_at='2999-01-01T00:00:00.000000Z')
        self.assertEqual('2999-01-01T00:00:00.000000', made['expires_at'])
        self.log_in(id=made['id'], secret=made['secret'])
        row = {'expires_at': None}
        self.assertFalse(tables.is_expired(row))

    def test_of_others(self):
        made = self.make()
        self.make(self.admin, expect=403)
        one = f'{self.path}/{made["id"]}'
        self.admin.get(one)
        admin = self.admin.get(f'{V3}/users?name=admin')['users'][0]['id']
        others = f'{V3}/users/{admin}/application_credentials'
        self.demo.get(others, expect=403)
        self.admin.get(f'{others}/{made["id"]}', expect=404)
        self.admin.delete(one)

    # ---- access rules ----

    def rules(self, client=None):
        return (client or self.demo).get(self.rule_path)['access_rules']

    @property
    def rule_path(self):
        return f'{V3}/users/{self.user}/access_rules'

    def test_access_rules_limit_requests(self):
        rules = [
            {'service': service, 'path': path, 'method': 'GET'}
            for service, path in (
                ('network', '/network/v2.0/networks/{id}'),
                ('network', '/network/v2.0/sub*'),
                ('image', '/image/**'),
                ('compute', '/volume/**'),
            )
        ]
        made = self.make(access_rules=rules)
        self.assertEqual(4, len(made['access_rules']))
        client = self.log_in(id=made['id'], secret=made['secret'])
        (network,) = self.demo.get('/network/v2.0/networks?name=private')['networks']
        for path in (f'networks/{network["id"]}', 'subnets', 'subnetpools'):
            client.get(f'/network/v2.0/{path}')
        client.get('/image/v2/images')
        for path in ('networks', f'networks/{network["id"]}/tags', 'ports'):
            client.get(f'/network/v2.0/{path}', expect=401)
        client.post('/network/v2.0/subnets', {'subnet': {}}, expect=401)
        client.get('/volume/v3/volumes', expect=401)
        client.get(self.rule_path, expect=401)
        service = {**client.headers, 'X-Service-Token': self.token('nova', 'pw-service', 'service')}
        client.get('/network/v2.0/ports', headers=service)

    def test_a_rule_takes_no_long_time(self):
        """A regular expression of so many wildcards would not end."""
        rule = {'service': 'image', 'path': 70 * '/**' + '/x', 'method': 'GET'}
        made = self.make(access_rules=[rule, {**rule, 'path': '/image' + 50 * '{a}*' + '/x'}])
        client = self.log_in(id=made['id'], secret=made['secret'])
        client.get('/image/v2/' + 100 * 'images/', expect=401)
        client.get('/image/v2/' + 100 * 'images/' + 'x', expect=404)

    def test_tokens_with_rules_are_for_services_that_check_them(self):
        made = self.make(access_rules=[{'service': 'compute', 'path': '/x', 'method': 'GET'}])
        token = self.log_in(id=made['id'], secret=made['secret']).headers['X-Auth-Token']
        headers = {'X-Subject-Token': token}
        for version in ('0.5', 'x', ''):
            more = {'OpenStack-Identity-Access-Rules': version}
            self.admin.get(f'{V3}/auth/tokens', headers={**headers, **more}, expect=404)
        headers['OpenStack-Identity-Access-Rules'] = '1.0'
        found = self.admin.get(f'{V3}/auth/tokens', headers=headers)['token']
        self.assertEqual(made['access_rules'], found['application_credential']['access_rules'])

    def test_rules_stay_and_are_used_again(self):
        rule = {'service': 'compute', 'path': '/x', 'method': 'GET'}
        first = self.make(access_rules=[rule, rule])
        (kept,) = self.rules()
        second = self.make(name='second', access_rules=[{'id': kept['id']}])
        self.assertEqual(first['access_rules'], second['access_rules'])
        one = f'{self.rule_path}/{kept["id"]}'
        self.demo.delete(one, expect=403)
        for made in (first, second):
            self.demo.delete(f'{self.path}/{made["id"]}')
        self.demo.get(one)
        self.admin.get(one, expect=403)
        self.make(expect=404, name='x', access_rules=[{'id': 'unknown'}])
        self.make(expect=400, name='x', access_rules=[{**rule, 'path': 'x'}])
        self.demo.delete(one)
        self.assertEqual([], self.rules())

    def test_rules_go_with_their_user(self):
        self.make(access_rules=[{'service': 'compute', 'path': '/x', 'method': 'GET'}])
        self.admin.delete(f'{V3}/users/{self.user}')
        for name in ('access', 'credential'):
            rows = self.change_database(f'SELECT * FROM identity_{name}_rules')
            self.assertEqual([], rows)
