"""`nova-lite why` on an embedded cloud: once in a process of its own, else in this one."""

import json
import os
import stat
import urllib.error
import urllib.request

import fixtures

from nova_lite.daemons import local_endpoint
from nova_lite.daemons import scheduler
from tests.fixtures import commands
from tests.functional import base


class WhyTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 2}

    def why(self, *args, code=0):
        """The command's output, that of its errors if it cannot run, with this exit code."""
        found, out, err = commands.run('why', *args, '--state-dir', self.cloud.state_dir)
        self.assertEqual(code, found, err)
        return err if code == 2 else out

    def process(self, *args):
        """The output of the command as a process, which must succeed."""
        state = ('--state-dir', self.cloud.state_dir)
        code, out, err = commands.forked(['why', *args, *state], timeout_s=60)
        self.assertEqual(0, code, err)
        return out

    def test_what_became_of_each_host(self):
        flavor = self.cloud.admin.compute.create_flavor(name='giant', vcpus=1, ram=64, disk=100000)
        server = self.cloud.boot('giant', flavor=flavor.name, status='ERROR')
        found = json.loads(self.process('giant', '--json'))
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
        try:
            self.assertIn('is not up', self.why(server.id, code=2))
        finally:
            self.cloud.cloud.start_daemon('scheduler', scheduler.make, 'control')

    def test_differences(self):
        first = self.cloud.boot('first')
        path = self.useFixture(fixtures.TempDir()).join('first.json')
        with open(path, 'w') as file:
            file.write(self.why('first', '--json'))
        found = json.loads(self.why('--diff', path, first.id, '--json'))
        self.assertTrue(found['same'])
        self.cloud.boot('second', host='cell1-host2')
        self.cloud.boot('third', host='cell1-host1')
        shown = self.why('--diff', 'second', 'third', code=1)
        self.assertIn('| cell1-host1', shown)
        self.assertIn('in_tree', shown)
        self.assertIn('could not be found', self.why('--diff', path, 'nobody', code=2))

    def test_only_the_owner_gets_in(self):
        path = local_endpoint.path_of(self.cloud.state_dir)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        with open(path) as file:
            url = json.load(file)['url']
        request = urllib.request.Request(f'{url}/why?server=1', headers={'X-Endpoint-Key': 'guess'})
        error = self.assertRaises(urllib.error.HTTPError, urllib.request.urlopen, request)
        self.assertEqual(403, error.code)
        error.close()
