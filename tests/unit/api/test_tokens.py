"""The check of tokens by keystonemiddleware, and the headers that serve again."""

import datetime

import falcon.testing
from keystonemiddleware.auth_token import _request as theirs
import requests
import testtools

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.api import authentication
from nova_lite.api import tokens
from nova_lite.conf import keystone_authtoken
from tests.fixtures import clock
from tests.fixtures import simcloud

CACHE_S = 300
FORGED = {
    'X-User-Id': 'forged',
    'X-Roles': 'admin',
    'X-Service-Roles': 'service',
    'X-Service-User-Id': 'forged',
    'X-Is-Admin-Project': 'True',
    'OpenStack-System-Scope': 'all',
}


class Later(clock.Later):
    """Also for those who look at the time of day."""

    def now(self):
        return super().now() + datetime.timedelta(seconds=self.ahead_s)


class HeadersTest(testtools.TestCase):
    def test_they_are_those_of_the_library(self):
        request = theirs._AuthTokenRequest
        names = [request._SYSTEM_SCOPE_HEADER, *request.blank('/')._all_auth_headers()]
        self.assertEqual(
            {'HTTP_' + name.upper().replace('-', '_') for name in names}, tokens.HEADERS
        )


class TokensTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud())
        self.seen = []
        self.later = Later()
        self.enterContext(runtime.install(self.later))
        self.token = self.log_in({'password': {'user': self.user}}, self.scope)
        self.client = self.serve(CACHE_S)

    user = {'name': 'demo', 'domain': {'id': 'default'}, 'password': simcloud.PASSWORD}
    scope = {'project': {'name': 'demo', 'domain': {'id': 'default'}}}

    def serve(self, cache_s):
        """Return a client of an application behind the check."""
        conf = conf_module.make_conf(files=[])
        login = self.cloud.login('nova', 'service')
        options = {**login, 'www_authenticate_uri': self.cloud.url, 'token_cache_time': cache_s}
        for name, value in options.items():
            conf.set_override(name, value, group=keystone_authtoken.GROUP)
        checked = authentication.protect(conf, self.answer, lambda environ: False)
        return falcon.testing.TestClient(lambda environ, start: checked(environ, start))

    def answer(self, environ, start_response):
        """Record the environment of a request, as the application gets it."""
        self.seen.append(environ)
        start_response('204 No Content', [])
        return []

    def log_in(self, methods, scope=None):
        auth = {'identity': {'methods': list(methods), **methods}}
        answer = requests.post(
            f'{self.cloud.url}/identity/v3/auth/tokens',
            json={'auth': {**auth, **({'scope': scope} if scope else {})}},
            timeout=60,
        )
        self.assertEqual(201, answer.status_code, answer.text)
        return answer.headers['X-Subject-Token']

    def ask(self, expect=204, *, token=None, method='GET', client=None, **headers):
        """Send a request; return whether keystonemiddleware has made its headers."""
        answer = (client or self.client).simulate_request(
            method, '/v2.1/servers', headers={'X-Auth-Token': token or self.token, **headers}
        )
        self.assertEqual(expect, answer.status_code)
        return expect == 204 and 'keystone.token_info' in self.seen[-1]

    def identity(self):
        """Return what the last request was told of its caller."""
        return {name: self.seen[-1].get(name) for name in tokens.HEADERS}

    def test_serve_for_a_tenth_of_the_time_that_tokens_are_cached(self):
        self.assertTrue(self.ask())
        first = self.identity()
        self.assertEqual('demo', first['HTTP_X_PROJECT_NAME'])
        self.assertFalse(self.ask())
        self.assertEqual(first, self.identity())
        self.later.ahead_s = CACHE_S / tokens.PART
        self.assertTrue(self.ask())
        self.assertEqual(first, self.identity())

    def test_those_of_a_client_never_serve(self):
        self.ask()
        first = self.identity()
        self.assertFalse(self.ask(**FORGED))
        self.assertEqual(first, self.identity())
        self.ask(401, token='another', **FORGED)

    def test_not_beyond_the_end_of_the_token(self):
        self.ask()
        self.later.ahead_s = 10 * 365 * 86400
        for _request in range(2):
            self.assertTrue(self.ask(), 'its end is in the past here, not for keystonemiddleware')

    def test_not_beside_a_service_token(self):
        self.ask()
        self.ask(401, **{'X-Service-Token': 'invalid'})
        service = {'name': 'nova', 'domain': {'id': 'default'}, 'password': simcloud.PASSWORD}
        project = {'name': 'service', 'domain': {'id': 'default'}}
        token = self.log_in({'password': {'user': service}}, {'project': project})
        for _request in range(2):
            self.assertTrue(self.ask(**{'X-Service-Token': token}))
            self.assertEqual('nova', self.identity()['HTTP_X_SERVICE_USER_NAME'])
        self.assertFalse(self.ask())
        self.assertIsNone(self.identity()['HTTP_X_SERVICE_USER_NAME'])

    def test_not_of_a_token_with_access_rules(self):
        headers = {'X-Auth-Token': self.token}
        url = f'{self.cloud.url}/identity/v3'
        user = requests.get(
            f'{url}/auth/tokens', headers={**headers, 'X-Subject-Token': self.token}, timeout=60
        ).json()['token']['user']['id']
        rule = {'service': 'compute', 'path': '/v2.1/servers', 'method': 'GET'}
        made = requests.post(
            f'{url}/users/{user}/application_credentials',
            json={'application_credential': {'name': 'ci', 'access_rules': [rule]}},
            headers=headers,
            timeout=60,
        ).json()['application_credential']
        reference = {'id': made['id'], 'secret': made['secret']}
        limited = self.log_in({'application_credential': reference})
        for _request in range(2):
            self.assertTrue(self.ask(token=limited))
            self.ask(401, token=limited, method='POST')

    def test_not_where_tokens_are_not_cached(self):
        client = self.serve(-1)
        for _request in range(2):
            self.assertTrue(self.ask(client=client))
        requests.delete(
            f'{self.cloud.url}/identity/v3/auth/tokens',
            headers={'X-Auth-Token': self.token, 'X-Subject-Token': self.token},
            timeout=60,
        )
        self.ask(401, client=client)
