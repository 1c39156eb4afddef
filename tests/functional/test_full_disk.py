"""A cloud whose state directory is on a file system that becomes full, and has space again."""

import contextlib
import json
import os
import re
import signal
import subprocess

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import ports
from tools import sample

READY_S, STOP_S, WAIT_S = 300, 120, 120
READY = re.compile(r'^Ready after [0-9.]+ s: (http\S+)$', re.MULTILINE)
SIZE, BLOCK = '16m', 4096
SPAWNS = """
extends: instant
hosts: [{delays: {spawn: 4}}]
"""


@sample.in_turns(2, first=1)
class FullDiskTest(testtools.TestCase):
    def mount(self):
        """The path of a small file system in memory."""
        path = self.useFixture(fixtures.TempDir()).path
        mounted = subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', f'size={SIZE}', 'tmpfs', path], capture_output=True
        )
        if mounted.returncode:
            self.skipTest(f'cannot mount a file system: {mounted.stderr.decode()}')
        self.addCleanup(subprocess.run, ['umount', '--lazy', path], check=True)
        return path

    def fill(self, path):
        """Write a file until there is no space."""
        with open(path, 'wb', buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(BLOCK))

    def start(self):
        profile = self.useFixture(fixtures.TempDir()).join('profile.yaml')
        with open(profile, 'w') as file:
            file.write(SPAWNS)
        port = self.useFixture(ports.Port()).number
        options = ['--state-dir', self.state_dir, '--port', port, '--cells', '1', '--hosts', '2']
        cloud = self.useFixture(
            forking.Daemon([commands.MODULE, 'up', *options, '--profile', profile], name='up')
        )
        cloud.start()
        cloud.wait_for(lambda: READY.search(cloud.log_text()), READY_S, 'says it is ready')
        return cloud

    def test_a_cloud_goes_on_once_there_is_space(self):
        root = self.mount()
        self.state_dir, ballast = os.path.join(root, 'state'), os.path.join(root, 'ballast')
        cloud = self.start()
        admin = client_connections.connect(os.path.join(self.state_dir, 'clouds.yaml'), 'nova-lite')
        self.compute = admin.compute
        self.image = next(iter(admin.image.images())).id
        accepted = [self.boot('accepted'), self.boot('another')]
        cloud.wait_for(lambda: self.tasks(accepted) == {'spawning'}, WAIT_S, 'spawns guests')
        self.fill(ballast)
        for url, body in (
            ('/servers', {'server': self.server('refused')}),
            ('/os-aggregates', {'aggregate': {'name': 'refused'}}),
        ):
            answer = self.compute.post(url, json=body, microversion='2.90')
            self.assertEqual(503, answer.status_code, answer.text)
            self.assertIn('Free space on it', answer.text)
        answer = admin.network.post('/networks', json={'network': {'name': 'refused'}})
        self.assertEqual(503, answer.status_code, answer.text)
        self.assertEqual(f'disk full: {self.state_dir}', self.problem())
        os.unlink(ballast)
        for server in accepted:
            self.compute.wait_for_server(server, wait=WAIT_S)
        self.assertIsNone(self.problem())
        self.assertEqual({'accepted', 'another'}, {each.name for each in self.compute.servers()})
        self.assertEqual((0, ''), self.verified())
        self.fill(ballast)
        cloud.signal(signal.SIGINT)
        self.assertEqual(0, cloud.wait(STOP_S), cloud.log_text())
        self.assertNotIn('Traceback', cloud.log_text())

    def server(self, name):
        return {'name': name, 'imageRef': self.image, 'flavorRef': '1', 'networks': 'none'}

    def boot(self, name):
        answer = self.compute.post(
            '/servers', json={'server': self.server(name)}, microversion='2.90'
        )
        return self.compute.get_server(answer.json()['server']['id'])

    def tasks(self, servers):
        return {self.compute.get_server(server).task_state for server in servers}

    def problem(self):
        _code, out, _err = commands.run('status', '--json', '--state-dir', self.state_dir)
        return json.loads(out).get('problem')

    def verified(self):
        code, out, _err = commands.run('verify', '--json', '--state-dir', self.state_dir)
        return code, '' if code == 0 else out
