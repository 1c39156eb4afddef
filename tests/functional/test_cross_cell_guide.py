"""The commands of admin/cross-cell-resize.rst, in the cloud that the guide starts."""

import os
import sys

import testtools

from tests.fixtures import moving
from tests.fixtures import units
from tests.fixtures import warm_programs
from tests.functional import base
from tools import sample

GUIDE = units.ROOT / 'doc' / 'source' / 'admin' / 'cross-cell-resize'


@sample.in_turns(2)
class GuideTest(base.CloudTest):
    settings = {'cells': 2, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.stage = moving.Moving(self.cloud)
        source = os.path.dirname(sys.executable)
        self.warm = self.useFixture(warm_programs.WarmPrograms(source, ['openstack']))

    def play(self, script):
        """Return what a script of the guide prints."""
        variables = {
            'OS_CLIENT_CONFIG_FILE': self.cloud.cloud.places.path('clouds.yaml'),
            'OS_CLOUD': 'nova-lite',
            'OS_COMPUTE_API_VERSION': '2.90',
        }
        done = self.warm.run(['sh', '-eu', str(GUIDE / script)], variables)
        self.assertEqual((0, ''), (done.returncode, done.stderr), done.stdout)
        return done.stdout

    def host_of(self, server, status='ACTIVE'):
        """Wait until the server has this status and no saga; return its host."""
        found = self.cloud.wait(server, status)
        self.stage.wait_idle(server)
        return found.compute_host

    def find(self, name):
        return self.cloud.admin.compute.find_server(name)

    def test_walk_through(self):
        printed = self.play('confirm.sh')
        self.assertIn('VERIFY_RESIZE', printed)
        server = self.find('web')
        self.assertEqual('cell2-host1', self.host_of(server))
        self.play('revert.sh')
        self.assertEqual('cell2-host1', self.host_of(server))
        self.play('resize.sh')
        self.assertThat(self.host_of(server), testtools.matchers.StartsWith('cell1-'))
        self.assertEqual('m1.small', self.find('web').flavor.original_name)

    def test_failure(self):
        self.cloud.behave((GUIDE / 'failing.yaml').read_text())
        self.addCleanup(self.cloud.behave, 'extends: instant')
        printed = self.play('fail.sh')
        for shown in ('ACTIVE', 'error', 'migrate'):
            self.assertIn(shown, printed)
        server = self.find('unlucky')
        self.assertEqual('cell1-host1', self.host_of(server))
        events = self.stage.events(server, 'migrate')
        self.assertIn(('compute_finish_snapshot_based_resize_at_dest', 'Error'), events)
