"""Programs in Go that use gophercloud, as Debian has built them (bindep.txt): Packer, Prometheus.

Packer builds an image: it boots a server, stops it, creates an image of it and deletes it.
Prometheus finds hypervisors and servers.
"""

import json
import pathlib
import shutil
import subprocess

import fixtures
import testtools
import yaml

from nova_lite.lab.launcher import openrc
from tests.functional import base

PACKER, PROMTOOL = 'packer', 'promtool'
NEEDED = (PACKER, PROMTOOL)
RUN_S = 300
DEMO, ADMIN = 'nova-lite-demo', 'nova-lite'
# The roles of Prometheus's service discovery.
HOSTS, SERVERS = 'hypervisor', 'instance'


@testtools.skipUnless(all(map(shutil.which, NEEDED)), f'needs {" and ".join(NEEDED)}')
class GoClientsTest(base.CloudTest):
    settings = {'cells': 2, 'hosts': 2}

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def variables(self, name):
        """The variables OS_* of a user."""
        return openrc.variables(self.cloud.cloud.places.clouds_path, name)

    def run_program(self, *command, **variables):
        """Run a program and return what it prints on standard output."""
        environment = {'PATH': '/usr/bin:/bin', 'HOME': str(self.directory), **variables}
        done = subprocess.run(
            command,
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=RUN_S,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_packer(self):
        """An image is built; nothing else of the build stays."""
        cloud = self.cloud.connect(DEMO)
        network = cloud.network.find_network('private')
        template = {
            'builders': [
                {
                    'type': 'openstack',
                    # Guests have no SSH.
                    'communicator': 'none',
                    'ssh_username': 'none',
                    'flavor': 'm1.tiny',
                    'source_image_name': 'cirros',
                    'image_name': 'built',
                    'networks': [network.id],
                    'metadata': {'built-by': 'packer'},
                }
            ]
        }
        (self.directory / 'image.json').write_text(json.dumps(template))
        printed = self.run_program(
            PACKER, 'build', '-color=false', 'image.json', CHECKPOINT_DISABLE='1',
            **self.variables(DEMO),
        )  # fmt: skip
        image = cloud.image.find_image('built')
        self.addCleanup(cloud.image.delete_image, image)
        self.assertIn(f'An image was created: {image.id}', printed)
        self.assertEqual(('active', 'packer'), (image.status, image.properties['built-by']))
        self.assertEqual([], list(cloud.compute.servers()))
        self.assertEqual([], list(cloud.compute.keypairs()))

    def test_prometheus(self):
        server = self.cloud.boot(
            'web', networks=[{'uuid': self.cloud.network_id()}], metadata={'role': 'db'}
        )
        given = self.variables(ADMIN)
        common = {
            'identity_endpoint': given['OS_AUTH_URL'],
            'username': given['OS_USERNAME'],
            'password': given['OS_PASSWORD'],
            'project_name': given['OS_PROJECT_NAME'],
            'domain_id': 'default',
            'region': given['OS_REGION_NAME'],
            'all_tenants': True,
        }
        jobs = [
            {'job_name': role, 'openstack_sd_configs': [{**common, 'role': role}]}
            for role in (HOSTS, SERVERS)
        ]
        (self.directory / 'prometheus.yml').write_text(yaml.safe_dump({'scrape_configs': jobs}))
        self.assertEqual(
            {'cell1-host1', 'cell1-host2', 'cell2-host1', 'cell2-host2'},
            set(self.discovered(HOSTS, 'hypervisor_hostname')),
        )
        self.assertEqual([server.id], self.discovered(SERVERS, 'instance_id'))
        self.assertEqual(['db'], self.discovered(SERVERS, 'tag_role'))

    def discovered(self, role, label):
        """The values of a label of what Prometheus finds."""
        printed = self.run_program(
            PROMTOOL, 'check', 'service-discovery', '--timeout=5s', 'prometheus.yml', role
        )
        return [
            each['discoveredLabels'][f'__meta_openstack_{label}'] for each in json.loads(printed)
        ]
