"""`nova-lite why` on an embedded cloud: the command in a process of its own."""

import json
import os
import stat
import subprocess
import sys
import urllib.error
import urllib.request

import testtools

from nova_lite.cmd import door
from tests.fixtures import cloud as cloud_fixture


class WhyTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(cells=1, hosts=2))

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def why(self, *args, code=0):
        """The command's output (JSON when it succeeds), with this exit code."""
        command = [sys.executable, '-m', 'nova_lite.cmd.main', 'why', *args]
        done = subprocess.run(
            [*command, '--state-dir', self.cloud.state_dir],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(code, done.returncode, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_what_became_of_each_host(self):
        flavor = self.cloud.admin.compute.create_flavor(name='giant', vcpus=1, ram=64, disk=100000)
        server = self.cloud.boot('giant', flavor=flavor.name, status='ERROR')
        found = json.loads(self.why('giant', '--json'))
        self.assertEqual((server.id, None), (found['instance_uuid'], found['chosen']))
        self.assertIn('compute_status_filter', [note[0] for note in found['request_filters']])
        self.assertEqual({'placement'}, {each['stage'] for each in found['hosts']})
        self.assertIn('DISK_GB', found['hosts'][0]['reason'])
        shown = self.why(server.id, 'cell1-host2')
        self.assertIn('cell1-host2', shown)
        self.assertNotIn('cell1-host1', shown)

    def test_what_is_not_known(self):
        server = self.cloud.boot()
        self.assertIn('Compute host x', self.why(server.id, 'x', code=2))
        self.assertIn('could not be found', self.why('nobody', code=2))
        self.cloud.boot('twin')
        self.cloud.boot('twin')
        self.assertIn('Multiple servers', self.why('twin', code=2))
        self.cloud.cloud.stop_daemon('scheduler')
        self.assertIn('is not up', self.why(server.id, code=2))

    def test_only_the_owner_gets_in(self):
        path = door.path_of(self.cloud.state_dir)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        with open(path) as file:
            url = json.load(file)['url']
        request = urllib.request.Request(f'{url}/why?server=1', headers={'X-Door-Key': 'guess'})
        error = self.assertRaises(urllib.error.HTTPError, urllib.request.urlopen, request)
        self.assertEqual(403, error.code)
        error.close()
