"""Clients that send half a request, or too much, to each port of a cloud of processes."""

import os

import testtools

from nova_lite.lab.launcher import verification
from tests.fixtures import hostile_clients
from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample


@sample.in_turns(3, first=2)
class HostileClientsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(mariadb.MariaDB(), cells=1, hosts=1, profile='instant')
        )

    def test_each_port_of_a_cloud(self):
        pids = {name: self.cloud.pid(name) for name in self.cloud.cloud.children}
        places = {name: hostile_clients.ports_of(pid) for name, pid in pids.items()}
        # Of the page and the endpoints for commands; the test's servers are children.
        places['up'] = hostile_clients.ports_of(os.getpid(), children=False)
        pids['up'] = os.getpid()
        self.assertEqual([], [name for name, found in places.items() if not found])
        self.assertEqual(
            [],
            [
                f'{name}: {wrong}'
                for name, found in places.items()
                for place in found
                for wrong in hostile_clients.found(pids[name], place, children=name != 'up')
            ],
        )
        self.assertEqual([], verification.find(self.cloud.state_dir).findings)
