"""Drills of `nova-lite scenario` over RabbitMQ and MariaDB, with a process for each daemon.

All that need no clock, one after the other in one cloud.
"""

import collections

import testtools

from nova_lite.lab.control import abilities
from nova_lite.lab.launcher import running
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import needs
from tests.fixtures import commands
from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers

# Of the end of each drill.
SETTLE_S = 120


def is_refused(name):
    return abilities.CLOCK in needs.of(drills.read(name))


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
        codes, failed = collections.Counter(), {}
        for name in drills.names():
            words = ('scenario', 'run', name, '--state-dir', self.cloud.state_dir)
            code, out, errors = commands.run(*words)
            codes[code] += 1
            if code != (2 if is_refused(name) else 0):
                failed[name] = out + errors
        self.assertEqual({}, failed)
        self.assertEqual({0: len(drills.names()) - 1, 2: 1}, codes)
        self.assertEqual([], self.cloud.findings(SETTLE_S))
