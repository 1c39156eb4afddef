"""The control endpoint, over HTTP: what it answers, and whom it refuses."""

import http.client
import json
import os
import stat
import urllib.parse

import fixtures
import testtools

from nova_lite import exception
from nova_lite.daemons import local_endpoint
from nova_lite.lab.control import endpoint

SCHEMA = {
    'type': 'object',
    'properties': {'rate': {'type': 'number', 'minimum': 1}},
    'additionalProperties': False,
}


class EndpointTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        made = endpoint.Endpoint(self.directory)
        self.called = []
        made.add('POST', 'clock', self.note, schema=SCHEMA)
        made.add('GET', 'clock', self.note, schema={'type': 'object'})
        made.add('POST', 'failing', self.fail_with)
        made.open()
        self.addCleanup(made.close)
        place = local_endpoint.place_of(self.directory, 'control')
        self.key, self.address = place.key, urllib.parse.urlsplit(place.url)
        self.error = None

    def note(self, arguments):
        self.called.append(arguments)
        return {'done': arguments}

    def fail_with(self, _arguments):
        raise self.error

    def send(self, method='POST', path='/control/clock', body='{"rate": 2}', **headers):
        """(status, JSON) of a request with the key, unless headers (None omits) differ."""
        given = {
            'Host': self.address.netloc,
            local_endpoint.KEY_HEADER: self.key,
            'Content-Type': 'application/json',
            **{name.replace('_', '-'): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader('Content-Length', str(len(body)))
        connection.endheaders(body.encode())
        answer = connection.getresponse()
        return answer.status, json.load(answer)

    def assert_refused(self, expected, text, **request):
        status, found = self.send(**request)
        self.assertEqual(expected, status, found)
        self.assertIn(text, str(found['error']))
        self.assertEqual([], self.called)

    def test_arguments(self):
        self.assertEqual((200, {'done': {'rate': 2}}), self.send())
        self.assertEqual((200, {'done': {'a': 'b'}}), self.send('GET', '/control/clock?a=b', ''))
        self.assertEqual((200, {'done': {}}), self.send(body='', Content_Type=None))

    def test_the_secret(self):
        path = os.path.join(self.directory, 'run', 'control.json')
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        for key in (None, '', 'x', self.key[:-1]):
            self.assert_refused(403, 'X-Endpoint-Key', X_Endpoint_Key=key)
            self.assert_refused(403, 'X-Endpoint-Key', X_Endpoint_Key=None, X_Door_Key=key)

    def test_pages_of_other_origins(self):
        for origin in ('null', 'http://evil.example', f'http://{self.address.netloc}'):
            self.assert_refused(403, 'Origin', Origin=origin)

    def test_rebound_names(self):
        port = self.address.port
        for host in ('evil.example', f'127.0.0.1.evil.example:{port}', '[::2]'):
            self.assert_refused(403, 'Host', Host=host)
        for host in ('[::1', '', None):
            self.assert_refused(400, 'Host', Host=host)
        for host in (f'localhost:{port}', f'127.0.0.1:{port}', '[::1]'):
            self.assertEqual(200, self.send(Host=host)[0])

    def test_what_is_no_request(self):
        self.assert_refused(404, 'POST /control/clock', path='/control/clocks')
        self.assert_refused(404, 'PUT /control/clock', method='PUT')
        self.assert_refused(415, 'text/plain', Content_Type='text/plain')
        self.assert_refused(400, 'not JSON', body='{')
        self.assert_refused(400, 'not JSON', body='[' * 100000)
        self.assert_refused(400, 'must be a JSON object', body='[]')
        self.assert_refused(400, 'argument rate', body='{"rate": 0}')
        self.assert_refused(400, "'speed' was unexpected", body='{"speed": 1}')
        self.assert_refused(413, 'bytes', body=' ' * (endpoint.MAX_BODY + 1))

    def test_errors(self):
        for error, status, text in (
            (exception.NotFound('No such state.'), 404, 'No such state.'),
            (exception.Unavailable(service='X', reason='busy'), 503, 'X is not available: busy'),
            (KeyError('x'), 500, 'Unexpected KeyError'),
        ):
            self.error = error
            self.assert_refused(status, text, path='/control/failing', body='')
