"""Hosts that are slow and uneven: moves beside each other, audits that look each second."""

import os

import testtools

from tests import fixtures as fixtures_package
from tests.fixtures import attaching
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.sim.cases import loading

load_tests = loading.load_tests

PROFILE = os.path.join(os.path.dirname(fixtures_package.__file__), 'slow_spawns.yaml')
# Few threads, so that sagas wait for each other, and audits faster than a build.
OPTIONS = {
    'conductor': {'saga_threads': 2, 'audit_interval': 1, 'audit_idle_s': 60},
    'compute': {'audit_interval': 1, 'stray_grace': 1},
}
HOME, DOOMED, FAR = 'cell1-host1', 'cell1-host3', 'cell2-host1'


class JitteryTest(testtools.TestCase):
    settings = {'cells': 2, 'hosts': 3, 'profile': PROFILE, 'options': OPTIONS}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.hands = attaching.Attaching(self.cloud)

    def test_moves_beside_each_other(self):
        """Each ends as asked for, and its server runs once, where the API says."""
        flows = [self.resize, self.cross, self.live_migrate, self.shelve, self.attach]
        servers = [self.boot(flow.__name__, HOME) for flow in flows]
        lost = self.boot('evacuate', DOOMED)
        for server in (*servers, lost):
            self.cloud.wait(server)
        self.stage.fail(DOOMED)
        calls = [(flow, server) for flow, server in zip(flows, servers, strict=True)]
        calls.append((self.evacuate, lost))
        self.stage.together(*(lambda call=call: call[0](call[1]) for call in calls))
        for server in (*servers, lost):
            found = self.cloud.wait(server)
            self.stage.wait_idle(server)
            nodes = self.cloud.guests().get(server.id)
            self.assertEqual([found.compute_host], nodes, server.name)
        self.assertEqual([], self.cloud.findings())

    def boot(self, name, host):
        return self.stage.boot_full(name, wait=False, availability_zone=f'nova:{host}')

    # ---- what is done to a server ----

    def resize(self, server):
        self.stage.resize(server, 'm1.small')
        self.confirm(server)

    def cross(self, server):
        self.stage.act(server, 'migrate', {'host': FAR})
        self.confirm(server)

    def confirm(self, server):
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.stage.act(server, 'confirmResize', status=204)
        self.stage.wait_idle(server)

    def live_migrate(self, server):
        self.stage.go(server)
        self.assertEqual('completed', self.stage.ended(server)['status'])

    def shelve(self, server):
        self.stage.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.stage.wait_idle(server)
        self.stage.act(server, 'unshelve')
        self.stage.wait_idle(server)

    def attach(self, server):
        volume = self.hands.volume()
        self.hands.attached(server, volume)
        self.hands.plug(server, net_id=self.cloud.network_id(), status=None)
        self.hands.wait_idle(server)
        self.hands.detached(server, volume)
        ports = [each['port_id'] for each in self.hands.interfaces(server)]
        self.assertEqual(2, len(ports))
        self.hands.unplug(server, ports[-1])
        self.hands.wait_idle(server)
        self.assertEqual(1, len(self.hands.interfaces(server)))

    def evacuate(self, server):
        self.stage.act(server, 'evacuate', {}, status=200, version='2.94')
        self.assertEqual('done', self.stage.ended(server)['status'])
        self.stage.come_back(DOOMED)
