"""Vendor data of services."""

import base64
import json
import logging
import socket

import fixtures

from nova_lite import exception
from nova_lite import runtime
from nova_lite.metadata import drive
from nova_lite.metadata import openstack
from nova_lite.metadata import vendor_data
from nova_lite.metadata import vendor_services
from tests.fixtures import guest_facts
from tests.fixtures import http
from tests.fixtures import simcloud
from tests.unit.clients import base

BOTH = ['StaticJSON', 'DynamicJSON']


class Trickle(fixtures.Fixture):
    """A server that answers each connection with `head` and then with a byte now and then."""

    def __init__(self, head):
        self._head = head

    def _setUp(self):
        self._listener = socket.create_server(('127.0.0.1', 0))
        self._done = runtime.Event()
        self.url = 'http://127.0.0.1:%d/' % self._listener.getsockname()[1]
        thread = runtime.spawn(self._serve)
        self.addCleanup(thread.join)
        self.addCleanup(self._listener.close)
        self.addCleanup(self._done.set)

    def _serve(self):
        connected, _ = self._listener.accept()
        with connected:
            connected.recv(1 << 16)
            try:
                connected.sendall(self._head)
                while not self._done.wait(0.2):
                    connected.sendall(b' ')
            except OSError:
                return


class DynamicTest(base.ClientTestCase):
    def setUp(self):
        super().setUp()
        self.told, self.headers, self.authorizations = [], [], []
        self.answer, self.status = b'{"answer": 1}', '200 OK'
        self.url = self.useFixture(http.Http({'/': self._serve})).url
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))

    def _serve(self, environ, start_response):
        length = int(environ['CONTENT_LENGTH'])
        self.told.append(json.loads(environ['wsgi.input'].read(length)))
        self.headers.append(environ.get('HTTP_X_AUTH_TOKEN'))
        self.authorizations.append(environ.get('HTTP_AUTHORIZATION'))
        start_response(self.status, [('Content-Length', str(len(self.answer)))])
        return [self.answer]

    def facts(self, *targets, providers=BOTH, **options):
        options = {
            'vendordata_providers': providers,
            'vendordata_dynamic_targets': targets or [f'join@{self.url}'],
            **options,
        }
        return guest_facts.gather(options=options.items())

    def vendor(self, *targets, **options):
        facts = self.facts(*targets, **options)
        return json.loads(
            openstack.document(facts, openstack.VERSIONS[-1], openstack.VENDOR_DATA_2)
        )

    def test_answers(self):
        found = self.vendor(f'join@{self.url}', f'other@{self.url}/v1?a=b')
        self.assertEqual({'static': {}, 'join': {'answer': 1}, 'other': {'answer': 1}}, found)
        expected = {
            'project-id': 'alpha',
            'instance-id': guest_facts.UUID,
            'image-id': guest_facts.IMAGE,
            'user-data': base64.b64encode(guest_facts.SCRIPT).decode(),
            'hostname': 'web',
            'metadata': {'role': 'webserver'},
        }
        self.assertEqual([expected] * 2, self.told)
        self.assertEqual([None] * 2, self.headers)

    def test_a_service_is_asked_only_for_its_document(self):
        facts = self.facts()
        openstack.names(facts, openstack.VERSIONS[-1])
        openstack.document(facts, openstack.VERSIONS[-1], openstack.META_DATA)
        openstack.document(facts, openstack.VERSIONS[-1], openstack.VENDOR_DATA)
        self.assertEqual([], self.told)
        drive.files(facts)
        self.assertEqual(1, len(self.told))

    def test_providers(self):
        self.assertEqual({'join': {'answer': 1}}, self.vendor(providers=['DynamicJSON']))
        self.assertEqual({'static': {}}, self.vendor(providers=['StaticJSON']))

    def test_targets_that_cannot_be_used(self):
        good = f'join@{self.url}'
        found = self.vendor(good, good, 'join', '@http://x', f'static@{self.url}')
        self.assertEqual({'static': {}, 'join': {'answer': 1}}, found)
        self.assertEqual(4, self.log.output.count('Ignoring'))

    def test_failures(self):
        for status, answer in (
            ('500 Broken', b'{}'),
            ('302 Found', b'{}'),
            ('200 OK', b'{'),
            ('200 OK', b'"' + b'x' * (1 << 20) + b'"'),
        ):
            self.status, self.answer = status, answer
            self.assertEqual({'static': {}, 'join': {}}, self.vendor())
            self.assertRaises(
                exception.Unavailable, self.vendor, vendordata_dynamic_failure_fatal=True
            )
        self.assertEqual({'static': {}, 'join': {}}, self.vendor('join@http://127.0.0.1:1'))
        self.assertEqual(5, self.log.output.count('Cannot get vendor data join'))

    def test_an_answer_that_is_nested_too_deeply(self):
        for deep in (900, 1000, 200_000):
            self.answer = b'[' * deep + b']' * deep
            self.assertIn('join', self.vendor())
        self.answer = b'[' * 200_000
        self.assertEqual({'static': {}, 'join': {}}, self.vendor())

    def test_slow_answers(self):
        """A service that sends a byte now and then does not hold the thread."""
        for head in (b'HTTP/1.1 200 OK\r\nX: ', b'HTTP/1.1 200 OK\r\n\r\n'):
            url = self.useFixture(Trickle(head)).url
            began = runtime.monotonic()
            found = self.vendor(f'join@{url}', vendordata_dynamic_read_timeout=1)
            self.assertEqual({'static': {}, 'join': {}}, found)
            self.assertLess(runtime.monotonic() - began, 4)
        self.assertEqual(2, self.log.output.count('the answer takes more than 1 s'))

    def test_secrets_are_not_told(self):
        for url in (
            'http://user:s3cret@127.0.0.1:1/x?token=s3cret',
            'http://user:s3cret@host:port/x?token=s3cret',
            'http://user:s3cret@127.0.0.1:1/x y?token=s3cret',
            's3cret',
        ):
            self.vendor(f'join@{url}')
        error = self.assertRaises(
            exception.Unavailable,
            self.vendor,
            'join@http://user:s3cret@127.0.0.1:1/?s3cret',
            vendordata_dynamic_failure_fatal=True,
        )
        self.assertEqual(
            (1, 3),
            (self.log.output.count('Cannot get vendor'), self.log.output.count('Ignoring target')),
        )
        self.assertNotIn('s3cret', self.log.output + str(error) + error.message)

    def test_a_password_in_a_url(self):
        self.vendor(self.url.replace('http://', 'join@http://user:p%40ss@'))
        expected = base64.b64encode(b'user:p@ss').decode()
        self.assertEqual([f'Basic {expected}'], self.authorizations)

    def test_timeouts_of_zero_are_refused(self):
        for name in ('vendordata_dynamic_connect_timeout', 'vendordata_dynamic_read_timeout'):
            self.assertRaises(ValueError, self.conf.set_override, name, 0, 'api')

    def test_places(self):
        """Beyond the places a request fails at once, also if failures are not fatal."""
        services = vendor_services.Services(self.conf, most=1)
        self.conf.set_override('vendordata_providers', ['DynamicJSON'], 'api')
        self.conf.set_override('vendordata_dynamic_targets', [f'join@{self.url}'], 'api')
        made = vendor_data.VendorData(self.conf, services, {})
        with services.place():
            self.assertRaises(exception.Unavailable, made.all)
        self.assertEqual({'join': {'answer': 1}}, made.all())

    def test_token(self):
        cloud = self.useFixture(simcloud.SimCloud())
        login = {'auth_type': 'password', **cloud.login('demo', 'demo')}
        for name, value in login.items():
            self.conf.set_override(name, value, vendor_services.AUTH)
        self.conf.set_override('vendordata_providers', ['DynamicJSON'], 'api')
        targets = [f'join@{self.url}', f'other@{self.url}']
        self.conf.set_override('vendordata_dynamic_targets', targets, 'api')
        services = vendor_services.Services(self.conf)
        for _ in range(3):
            vendor_data.VendorData(self.conf, services, {}).all()
        self.assertEqual(6, len([token for token in self.headers if token]))
        self.assertEqual(1, len(set(self.headers)))
        self.status = '401 Unauthorized'
        vendor_data.VendorData(self.conf, services, {}).all()
        self.status = '200 OK'
        vendor_data.VendorData(self.conf, services, {}).all()
        self.assertNotEqual(self.headers[0], self.headers[-1])
