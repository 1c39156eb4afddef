"""Clients that send half a request, or too much, to each port of an embedded cloud."""

import re
import signal

import fixtures
import testtools

from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import hostile_clients
from tests.fixtures import ports
from tools import sample

READY_S, STOP_S = 300, 120
READY = re.compile(r'^Ready after [0-9.]+ s: (http\S+)$', re.MULTILINE)
# Services, placement, stand-ins, health, control, events, the scheduler's endpoint, consoles.
PORTS = 8


@sample.in_turns(2)
class HostileClientsTest(testtools.TestCase):
    def test_each_port_of_a_cloud(self):
        state_dir = self.useFixture(fixtures.TempDir()).join('state')
        port = self.useFixture(ports.Port()).number
        options = ['--state-dir', state_dir, '--port', port, '--cells', '1', '--hosts', '1']
        cloud = self.useFixture(
            forking.Daemon([commands.MODULE, 'up', *options, '--profile', 'instant'], name='up')
        )
        cloud.start()
        cloud.wait_for(lambda: READY.search(cloud.log_text()), READY_S, 'says it is ready')
        places = hostile_clients.ports_of(cloud.pid)
        self.assertEqual(PORTS, len(places), places)
        self.assertEqual(
            [], [each for one in places for each in hostile_clients.found(cloud.pid, one)]
        )
        cloud.signal(signal.SIGINT)
        self.assertEqual(0, cloud.wait(STOP_S), cloud.log_text())
        self.assertNotIn('Traceback', cloud.log_text())
