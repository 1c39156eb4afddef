"""The metadata service over the databases of two cells, asked as the metadata proxy asks it."""

import base64
import logging

from falcon import testing
import fixtures
import testtools

from nova_lite.metadata.service import app
from nova_lite.metadata.service import callers
from nova_lite.metadata.service import servers
from tests.fixtures import guest_facts
from tests.fixtures import servers_api

SECRET = 'shared secret'
PASSWORD = '/openstack/latest/password'
META_DATA = '/openstack/latest/meta_data.json'
DATA = b'#!/bin/sh\n\xff'


class Case(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.INFO))
        self.api = self.useFixture(servers_api.ServersApi())
        self.conf = self.api.conf
        self.conf.set_override('service_metadata_proxy', True, 'neutron')
        self.conf.set_override('metadata_proxy_shared_secret', SECRET, 'neutron')
        self.client = testing.TestClient(app.Application(self.conf, self.make_servers()))
        self.uuid = self.add_server()

    def make_servers(self):
        return servers.AllServers(self.api.api_db, self.api.cells)

    def add_server(self, cell='cell1', **values):
        values = {
            'user_data': base64.b64encode(DATA).decode(),
            'key_name': 'mykey',
            'key_data': guest_facts.KEY,
            'network_info': [guest_facts.vif(guest_facts.subnet())],
            'security_groups': ['default'],
            **values,
        }
        return self.api.add_server(cell, **values)

    def headers(self, **values):
        """Return what the proxy sends for a server; `values` over it, None to omit a header."""
        uuid = values.pop('uuid', self.uuid)
        found = {
            callers.INSTANCE: uuid,
            callers.PROJECT: 'alpha',
            callers.SIGNATURE: callers.signature(SECRET, uuid),
            **{name.replace('_', '-'): value for name, value in values.items()},
        }
        return {name: value for name, value in found.items() if value is not None}

    def ask(self, path, method='GET', *, status=200, body=None, **values):
        answer = self.client.simulate_request(
            method, path, headers=self.headers(**values), body=body
        )
        self.assertEqual(status, answer.status_code, answer.content)
        return answer
