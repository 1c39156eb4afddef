"""Properties of every answer of the API: versions, headers, errors, permissions."""

import json
import socket

from falcon import testing
import fixtures
import testtools

from nova_lite import conf as configuration
from nova_lite import exception
from nova_lite.api import application
from nova_lite.api import faults
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.clients import neighbours
from tests.fixtures import compute_api
from tests.unit.api.servers import base

NAMED = {'X-User-Id': 'alice', 'X-Project-Id': 'alpha', 'X-Roles': 'member'}
JSON = 'application/json'


class Case(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(compute_api.ComputeApi())
        self.client = testing.TestClient(self.api.wsgi)

    def send(self, method, path, *, named=True, **options):
        headers = {**(NAMED if named else {}), **options.pop('headers', {})}
        return self.client.simulate_request(method, path, headers=headers, **options)

    def refused(self, code, key, method, path, **options):
        answer = self.send(method, path, **options)
        self.assertEqual(code, answer.status_code, answer.text)
        self.assertEqual([key], list(answer.json))
        self.assertEqual(code, answer.json[key]['code'])
        return answer


class TestLog(Case):
    def test_a_request_is_one_line(self):
        self.send('GET', '/v2.1/x%0aforged status: 500')
        self.assertIn('/v2.1/x%0Aforged%20status%3A%20500"', self.log.output)


class TestRequests(Case):
    def test_request_ids(self):
        answer = self.send('GET', '/v2.1/flavors')
        given = answer.headers['X-OpenStack-Request-ID']
        self.assertEqual(given, answer.headers['X-Compute-Request-ID'])
        self.assertTrue(given.startswith('req-'))
        other = self.send('GET', '/nowhere', named=False)
        self.assertNotEqual(given, other.headers['X-OpenStack-Request-ID'])

    def test_project_in_the_url(self):
        self.assertEqual(200, self.send('GET', '/v2.1/alpha/flavors').status_code)
        self.refused(400, 'badRequest', 'GET', '/v2.1/be7a/flavors')
        self.refused(404, 'itemNotFound', 'GET', '/v2.1/beta/flavors')

    def test_slash_at_the_end(self):
        for path in (
            '/flavors/',
            '/flavors/detail/',
            '/flavors/1/',
            '/alpha/flavors/',
            '//flavors',
        ):
            for root in ('/v2.1', '/v2'):
                self.unrouted('GET', root + path)
        for path in ('/', '/v2.1/', '/v2/'):
            self.assertEqual(200, self.send('GET', path).status_code)

    def unrouted(self, method, path, **options):
        """The answer is nova's framework's, before any version is looked at."""
        headers = {'OpenStack-API-Version': 'compute 9.9', 'Accept': 'application/json'}
        answer = self.send(method, path, headers=headers, **options)
        self.assertEqual(404, answer.status_code)
        self.assertEqual(
            {
                'message': 'The resource could not be found.<br /><br />\n\n\n',
                'code': '404 Not Found',
                'title': 'Not Found',
            },
            answer.json,
        )
        self.assertNotIn('OpenStack-API-Version', answer.headers)

    def test_nobody(self):
        self.refused(401, 'unauthorized', 'GET', '/v2.1/flavors', named=False)

    def test_unknown_urls_and_methods(self):
        self.unrouted('GET', '/v2.1/nothing')
        self.unrouted('GET', '/v2/nothing')
        for method in ('PATCH', 'DELETE', 'PAINT'):
            self.unrouted(method, '/v2.1/flavors')
        self.assertEqual(404, self.send('HEAD', '/v2.1/flavors').status_code)
        self.refused(401, 'unauthorized', 'GET', '/v2.1/nothing', named=False)
        self.refused(404, 'itemNotFound', 'GET', '/v2.1/flavors/%00')

    def test_words_in_the_place_of_ids(self):
        """`detail` is an id for methods that lists of details do not have."""
        self.refused(400, 'badRequest', 'PUT', '/v2.1/servers/detail', body=b'{}')
        for method, path in (('DELETE', '/servers/detail'), ('DELETE', '/alpha/servers/detail')):
            answer = self.refused(404, 'itemNotFound', method, f'/v2.1{path}')
            self.assertIn('Instance detail could not be found.', answer.text)
        self.refused(403, 'forbidden', 'DELETE', '/v2.1/flavors/detail')
        self.unrouted('PATCH', '/v2.1/servers/detail')
        self.assertEqual(200, self.send('GET', '/v2.1/servers/detail').status_code)

    def test_media_types(self):
        answer = self.send('GET', '/v2.1/flavors')
        self.assertEqual('application/json', answer.headers['Content-Type'])
        answer = self.send('GET', '/v2.1/flavors/x')
        self.assertEqual('application/json; charset=UTF-8', answer.headers['Content-Type'])

    def test_forms_of_what_has_no_route(self):
        """As WebOb writes it, which is nova's framework."""
        html, text = 'text/html; charset=UTF-8', 'text/plain; charset=UTF-8'
        for headers, form in (
            ({}, text),
            ({'Accept': '*/*'}, html),
            ({'Accept': f'text/html, {JSON}'}, html),
            ({'Accept': JSON}, JSON),
            ({'Accept': f'{JSON}, */*;q=0.1'}, JSON),
            ({'Accept': 'image/png'}, text),
            ({'Accept': 'x'}, html),
        ):
            for method, path in (('GET', '/v2.1/nothing'), ('PATCH', '/v2.1/flavors')):
                answer = self.send(method, path, headers=headers)
                self.assertEqual((404, form), (answer.status_code, answer.headers['Content-Type']))
                self.assertIn('The resource could not be found.', answer.text)

    def test_bodies(self):
        def post(code, key, body, **headers):
            self.refused(code, key, 'POST', '/v2.1/servers', body=body, headers=headers)

        post(400, 'badRequest', b'{')
        post(400, 'badRequest', b'')
        post(400, 'badRequest', b'[]')
        post(400, 'badRequest', b'{"server": NaN}')
        post(400, 'badRequest', b'\xff\xfe')
        post(400, 'badRequest', b'[' * 100000)
        post(400, 'badRequest', b'{"server": {"name": "\\ud800"}}')
        post(400, 'badRequest', b'{"server": {"name": "\\u0000"}}')
        post(413, 'overLimit', b'x' * 114689)
        post(415, 'badMediaType', b'<a/>', **{'Content-Type': 'application/xml'})

    def test_messages_of_wrong_bodies(self):
        action = f'/v2.1/servers/{"0" * 32}/action'
        for path, body, message in (
            ('/v2.1/servers', b'', 'The request has no body.'),
            ('/v2.1/servers', b'null', 'The request has no body.'),
            ('/v2.1/servers', b'[]', "[] is not of type 'object'"),
            ('/v2.1/servers', b'{"a": NaN}', 'NaN is not JSON'),
            ('/v2.1/servers', b'{"a": 1e999}', '1e999 is too large'),
            ('/v2.1/servers', b'{"a": "\\u0000"}', 'a string contains the character NUL'),
            ('/v2.1/servers', b'{"a": }', 'Expecting value: line 1 column 7'),
            ('/v2.1/servers', b'\xff', "can't decode byte 0xff in position 0"),
            ('/v2.1/servers', b'[' * 101 + b']' * 101, 'it has more than 100 levels'),
            (action, b'{"reboot": {}, "lock": null}', 'an object with one key'),
            (action, b'', 'an object with one key'),
        ):
            answer = self.refused(400, 'badRequest', 'POST', path, body=body)
            self.assertIn(message, answer.json['badRequest']['message'])

    def test_bodies_that_no_database_takes(self):
        for raw in (b'{"a": "\xed\xa0\x80"}', '{"a": "\\u0000"}'.encode('utf-16')):
            self.assertRaises(faults.MalformedBody, request.decode, raw)

    def test_bodies_of_many_levels(self):
        """Of some 960 lists in each other the parser reads what encoders fail at."""
        request.decode(b'[' * request.LEVELS + b']' * request.LEVELS)
        for levels in (request.LEVELS + 1, *range(900, 1000, 10)):
            raw = b'[' * levels + b']' * levels
            self.assertRaises(faults.MalformedBody, request.decode, raw)

    def test_query_that_is_no_text(self):
        for query, message in (
            ('name=%00', 'NUL'),
            ('%00=x', 'NUL'),
            ('name=%ff', 'UTF-8'),
            ('%c3%28=x', 'UTF-8'),
        ):
            answer = self.refused(400, 'badRequest', 'GET', '/v2.1/servers', query_string=query)
            self.assertIn(message, answer.json['badRequest']['message'])
        replacement = self.send('GET', '/v2.1/servers', query_string='name=%EF%BF%BD')
        self.assertEqual(200, replacement.status_code)

    def test_escaped_nul_is_no_nul(self):
        self.assertEqual({'a': '\\u0000'}, request.decode(b'{"a": "\\\\u0000"}'))

    def test_bug(self):
        """An unexpected error: 500 without its text, which is in the log."""
        self.api.app.policy = None
        answer = self.refused(500, 'computeFault', 'GET', '/v2.1/flavors')
        self.assertIn('AttributeError', answer.text)
        self.assertIn('Traceback', self.log.output)


class TestRoles(base.Case):
    def test_roles_imply_lower_ones(self):
        uuid = self.api.add_server()
        for roles in ('reader', 'member', 'manager', 'admin'):
            who = {'user': 'u', 'project': 'alpha', 'roles': roles}
            self.ok('GET', f'/servers/{uuid}', who=who)
        nobody = {'user': 'u', 'project': 'alpha', 'roles': ''}
        self.refused('GET', f'/servers/{uuid}', who=nobody, code=403)

    def test_what_administrators_see(self):
        uuid = self.api.add_server()
        seen = self.ok('GET', f'/servers/{uuid}', version='2.96', who=base.ADMIN).json['server']
        self.assertEqual('host1', seen['OS-EXT-SRV-ATTR:host'])
        self.assertEqual('UP', seen['host_status'])
        seen = self.ok('GET', f'/servers/{uuid}', version='2.96').json['server']
        self.assertNotIn('OS-EXT-SRV-ATTR:host', seen)
        self.assertNotIn('host_status', seen)


class TestKeystone(testtools.TestCase):
    """Tokens are checked by Keystone."""

    def client(self, **options):
        """Return a client of an API with these options of [keystone_authtoken]."""
        conf = configuration.make_conf([], files=[])
        values = {
            'auth_type': 'password',
            'auth_url': 'http://127.0.0.1:9/',
            'username': 'nova',
            'password': 'x',
            'project_name': 'service',
            'user_domain_id': 'default',
            'project_domain_id': 'default',
            **options,
        }
        for name, value in values.items():
            conf.set_override(name, value, 'keystone_authtoken')
        clients = neighbours.Neighbours(
            image=None, network=None, volume=None, share=None, placement=None
        )
        wsgi = application.make_app(
            conf, api_db=None, cells=None, clients=clients, super_conductor=None
        )
        return testing.TestClient(wsgi)

    def test_only_documents_need_no_token(self):
        self.useFixture(fixtures.FakeLogger())
        client = self.client()
        self.assertEqual(200, client.simulate_get('/v2.1/').status_code)
        self.assertEqual(200, client.simulate_get('/').status_code)
        answer = client.simulate_get('/v2.1/servers', headers=NAMED)
        self.assertEqual(401, answer.status_code)
        self.assertIn('X-OpenStack-Request-ID', answer.headers)

    def test_a_keystone_that_hangs_is_not_waited_for(self):
        self.useFixture(fixtures.FakeLogger())
        silent = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(silent.close)
        client = self.client(
            auth_url=f'http://127.0.0.1:{silent.getsockname()[1]}/',
            http_connect_timeout=1,
            http_request_max_retries=0,
        )
        answer = client.simulate_get('/v2.1/servers', headers={'X-Auth-Token': 'a'})
        self.assertEqual(503, answer.status_code)

    def test_there_is_a_limit_by_default(self):
        conf = configuration.make_conf([], files=[])
        self.assertEqual(10, conf.keystone_authtoken.http_connect_timeout)


class TestMessages(testtools.TestCase):
    def message(self, source, value):
        error = self.assertRaises(schema.InvalidInput, schema.Schema(source).check, value)
        return error.message

    def test_names_the_field(self):
        source = {
            'type': 'object',
            'properties': {'a': {'type': 'array', 'items': {'type': 'string'}}},
        }
        self.assertEqual(
            "Invalid input for field/attribute a. Value: 1. 1 is not of type 'string'",
            self.message(source, {'a': [1]}),
        )

    def test_long_values_are_cut(self):
        self.assertTrue(len(self.message({'type': 'integer'}, 'x' * 100000)) < 2000)

    def test_relaxed_drops_unknown_keys_of_any_depth(self):
        inner = {'type': 'object', 'properties': {'b': {}}, 'additionalProperties': False}
        source = {'type': 'object', 'properties': {'a': inner}, 'additionalProperties': False}
        value = {'a': {'b': 1, 'c': 2}, 'd': 3}
        schema.Schema(source).check(value, relaxed=True)
        self.assertEqual({'a': {'b': 1}}, value)

    def test_query_drops_what_it_does_not_know(self):
        loose = {'type': 'object', 'properties': {'a': {}}, 'additionalProperties': True}
        self.assertEqual({'a': ['1']}, schema.Query(loose).take({'a': ['1'], 'b': ['2']}))


class TestErrors(testtools.TestCase):
    def test_every_kind_has_a_code(self):
        def descend(kind):
            yield kind
            for below in kind.__subclasses__():
                yield from descend(below)

        for kind in descend(exception.NovaLiteError):
            # The metadata service has a table of its own.
            if not kind.__module__.startswith('nova_lite.metadata.service.'):
                self.assertIn(kind.kind, faults.CODES, kind)

    def test_body(self):
        error = exception.FlavorNotFound(flavor_id='x')
        body = json.loads(faults.body_of(*faults.describe(error)))
        self.assertEqual(
            {'itemNotFound': {'code': 404, 'message': 'Flavor x could not be found.'}}, body
        )
