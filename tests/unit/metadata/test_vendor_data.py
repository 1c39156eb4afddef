"""Vendor data of services."""

import base64
import json
import logging

import fixtures

from nova_lite import exception
from nova_lite.metadata import drive
from nova_lite.metadata import openstack
from nova_lite.metadata import vendor_data
from tests.fixtures import guest_facts
from tests.fixtures import http
from tests.fixtures import simcloud
from tests.unit.clients import base

BOTH = ['StaticJSON', 'DynamicJSON']


class DynamicTest(base.ClientTestCase):
    def setUp(self):
        super().setUp()
        self.told, self.headers = [], []
        self.answer, self.status = b'{"answer": 1}', '200 OK'
        self.url = self.useFixture(http.Direct({'/': self._serve})).url
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.WARNING))

    def _serve(self, environ, start_response):
        length = int(environ['CONTENT_LENGTH'])
        self.told.append(json.loads(environ['wsgi.input'].read(length)))
        self.headers.append(environ.get('HTTP_X_AUTH_TOKEN'))
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

    def test_token(self):
        cloud = self.useFixture(simcloud.SimCloud())
        login = {'auth_type': 'password', **cloud.login('demo', 'demo')}
        for name, value in login.items():
            self.conf.set_override(name, value, vendor_data.AUTH)
        self.conf.set_override('vendordata_providers', ['DynamicJSON'], 'api')
        self.conf.set_override('vendordata_dynamic_targets', [f'join@{self.url}'], 'api')
        vendor_data.VendorData(self.conf, {}).all()
        self.assertEqual(1, len([token for token in self.headers if token]))
