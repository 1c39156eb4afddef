"""The image of contrib/container: it is built, and its cloud serves a client outside of it."""

import json
import subprocess

import openstack
import testtools

from nova_lite import runtime
from tests.fixtures import container as container_fixture
from tests.fixtures import ports
from tests.fixtures import units

READY_S, LOOK_S, STOP_S = 120, 1, 60
NAME = 'nova-lite-demo'


class ContainerTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        image = self.useFixture(container_fixture.Image())
        print(f'The image has {image.size_mb:.0f} MB, of which its base has {image.base_mb:.0f} MB')
        self.container = self.useFixture(container_fixture.Container(image))
        self.port = self.useFixture(ports.Port()).number

    def start(self):
        """Start what the image starts by default, on a free port; return the Popen."""
        path = units.ROOT / container_fixture.FILE
        words = json.loads(path.read_text().splitlines()[-1].removeprefix('CMD '))
        process = self.container.start('nova-lite', *words, '--port', str(self.port))
        self.addCleanup(process.terminate)
        until = runtime.monotonic() + READY_S
        while not self.is_running():
            self.assertIsNone(process.poll())
            self.assertLess(runtime.monotonic(), until)
            runtime.sleep(LOOK_S)
        return process

    def is_running(self):
        try:
            return json.loads(self.container.run('nova-lite', 'status', '--json'))
        except subprocess.CalledProcessError:
            return False

    def connect(self):
        """Return a connection of demo, made from the variables that the container prints."""
        printed = self.container.run('nova-lite', 'env', '--openrc', '--cloud', NAME)
        lines = (line.removeprefix('export ') for line in printed.splitlines())
        found = dict(line.split('=', 1) for line in lines if line.startswith('OS_'))
        names = {
            'auth_url': 'OS_AUTH_URL',
            'username': 'OS_USERNAME',
            'password': 'OS_PASSWORD',
            'project_name': 'OS_PROJECT_NAME',
            'user_domain_id': 'OS_USER_DOMAIN_ID',
            'project_domain_id': 'OS_PROJECT_DOMAIN_ID',
        }
        auth = {name: found[variable] for name, variable in names.items()}
        connection = openstack.connect(
            auth=auth,
            region_name=found['OS_REGION_NAME'],
            load_envvars=False,
            load_yaml_config=False,
        )
        self.addCleanup(connection.close)
        return connection

    def test_a_client_outside(self):
        process = self.start()
        cloud = self.connect()
        server = cloud.create_server(
            'web', image='cirros', flavor='m1.tiny', network='private', wait=True
        )
        self.assertEqual('ACTIVE', server.status)
        self.assertIn('Reset to state fresh', self.container.run('nova-lite', 'reset'))
        self.assertEqual([], list(self.connect().compute.servers()))
        printed = self.container.run('nova-lite', 'verify')
        self.assertEqual('No invariant is violated.', printed)
        self.container.run('nova-lite', 'stop')
        out, _errors = process.communicate(timeout=STOP_S)
        self.assertEqual(0, process.returncode, out)
