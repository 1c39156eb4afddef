"""Drills of `nova-lite scenario` over RabbitMQ and MariaDB, with a process for each daemon.

All that need neither the clock nor the debugger, one after the other in one cloud.
"""

import testtools

from nova_lite.lab.launcher import running
from nova_lite.lab.scenarios import drill as drills
from tests.fixtures import commands
from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

# Requests to the control endpoint that a cloud with --bus refuses.
REFUSED = ('clock', 'breakpoints', 'saga')
# Of the end of each drill.
SETTLE_S = 120


def names():
    """Return the names of the drills that such a cloud can play."""
    return [name for name in drills.names() if not any(map(_is_refused, drills.read(name).steps))]


def _is_refused(step):
    return step.action == 'control' and step.given['name'].partition('/')[0] in REFUSED


class ProcessScenariosTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(
                mariadb.MariaDB(), cells=2, hosts=3, drills=True, process_per_host=True
            )
        )
        # `nova-lite up` does so once the cloud is ready.
        running.write(self.cloud.state_dir, running.of(self.cloud.cloud.places))

    def test_all(self):
        played = names()
        self.assertGreater(len(played), 8)
        failed = {}
        for name in played:
            words = ('scenario', 'run', name, '--state-dir', self.cloud.state_dir)
            code, out, errors = commands.run(*words)
            if code:
                failed[name] = out + errors
        self.assertEqual({}, failed)
        self.assertEqual([], self.cloud.findings(SETTLE_S))
