"""The metadata service in a whole cloud, asked as the metadata proxy of Neutron does."""

import base64
import os
import shutil
import subprocess
import sys

import requests
import testtools

from nova_lite.metadata.service import callers
from tests.fixtures import cli
from tests.fixtures import crossing
from tests.fixtures import units
from tests.functional import moves_base

SCRIPT = b'#!/bin/sh\necho hello\n'
ASK = units.ROOT / 'doc' / 'source' / 'admin' / 'metadata' / 'ask-metadata.sh'
SOURCE, DEST = 'cell1-host1', 'cell2-host1'
# An HTTP server that loads the application, and asks it once.
LOAD = """
from falcon import testing
from nova_lite.cmd import metadata_wsgi
print(testing.TestClient(metadata_wsgi.application).simulate_get('/').text)
"""
PASSWORD = '/openstack/latest/password'


class MetadataTest(moves_base.MovesTest):
    settings = moves_base.ONE_HOST_EACH

    def setUp(self):
        super().setUp()
        with open(os.path.join(self.cloud.state_dir, 'metadata-secret')) as file:
            self.secret = file.read()
        self.url = f'{self.cloud.cloud.url}/metadata'

    def ask(self, server, path, method='GET', *, status=200, body=None):
        headers = {
            callers.INSTANCE: server.id,
            callers.PROJECT: server.project_id,
            callers.SIGNATURE: callers.signature(self.secret, server.id),
        }
        answer = requests.request(method, self.url + path, headers=headers, data=body, timeout=60)
        self.assertEqual(status, answer.status_code, answer.text)
        return answer

    def boot(self):
        """A server with a port, a key, metadata and user data."""
        connection = self.cloud.admin
        key = connection.compute.create_keypair(name='asked')
        self.addCleanup(connection.compute.delete_keypair, 'asked')
        server = self.cloud.boot(
            networks=[{'uuid': self.cloud.network_id('shared')}],
            key_name=key.name,
            metadata={'role': 'web'},
            availability_zone=f'nova:{SOURCE}',
            user_data=base64.b64encode(SCRIPT).decode(),
        )
        return server, key

    def password(self, server):
        return self.api('GET', f'/servers/{server.id}/os-server-password')['password']

    def test_documents(self):
        server, key = self.boot()
        meta_data = self.ask(server, '/openstack/latest/meta_data.json').json()
        self.assertEqual(
            (server.id, 'server.novalocal', {'asked': key.public_key}, {'role': 'web'}),
            tuple(meta_data[name] for name in ('uuid', 'hostname', 'public_keys', 'meta')),
        )
        self.assertEqual(SCRIPT, self.ask(server, '/openstack/latest/user_data').content)
        (port,) = self.cloud.admin.network.ports(device_id=server.id)
        network_data = self.ask(server, '/openstack/latest/network_data.json').json()
        self.assertEqual([port.id], [link['vif_id'] for link in network_data['links']])
        self.assertEqual(
            [('ipv4_dhcp', port.network_id)],
            [(network['type'], network['network_id']) for network in network_data['networks']],
        )
        address = port.fixed_ips[0]['ip_address']
        self.assertEqual(address, self.ask(server, '/latest/meta-data/local-ipv4').text)
        self.cloud.admin.compute.set_server_metadata(server, role='database')
        meta_data = self.ask(server, '/openstack/latest/meta_data.json').json()
        self.assertEqual({'role': 'database'}, meta_data['meta'])
        self.delete(server)
        self.ask(server, '/openstack/latest/meta_data.json', status=404)

    def test_password_goes_along_to_another_cell(self):
        server, _key = self.boot()
        self.ask(server, PASSWORD, 'POST', body='x' * 5000, status=400)
        self.ask(server, PASSWORD, 'POST', body='ciphertext')
        self.ask(server, PASSWORD, 'POST', body='other', status=409)
        self.stage.act(server, 'migrate', {'host': DEST})
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertEqual('ciphertext', self.ask(server, PASSWORD).text)
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)
        crossing.Crossing(self.cloud).idle(server)
        self.assertEqual('ciphertext', self.ask(server, PASSWORD).text)
        self.assertEqual('ciphertext', self.password(server))
        shown = self.useFixture(cli.Cli(self.cloud)).nova('get-password', server.id)
        self.assertIn('ciphertext', shown)
        self.api('DELETE', f'/servers/{server.id}/os-server-password', status=204)
        self.assertEqual('', self.ask(server, PASSWORD).text)

    def test_under_another_wsgi_server(self):
        done = subprocess.run(
            [sys.executable, '-c', LOAD],
            env={
                **os.environ,
                'NOVA_LITE_CONFIG_FILES': self.cloud.cloud.places.path('etc', 'metadata.conf'),
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(['2009-04-04', 'latest'], done.stdout.split()[-2:])

    @testtools.skipUnless(shutil.which('curl') and shutil.which('openssl'), 'needs curl, openssl')
    def test_the_script_of_the_guide(self):
        server = self.cloud.boot()
        done = subprocess.run(
            ['sh', '-eu', str(ASK), server.id, server.project_id, 'latest/meta-data/instance-id'],
            env={**os.environ, 'STATE_DIR': self.cloud.state_dir, 'METADATA_URL': self.url},
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual((0, f'i-{server.id[:8]}'), (done.returncode, done.stdout), done.stderr)
