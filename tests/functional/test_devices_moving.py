"""Volumes and interfaces that come and go around moves: each end has what it should.

Those attached to a resized server are on its destination only. A revert brings them
to the source; what was detached does not come back.
"""

import testscenarios
import testtools

from tests.fixtures import attaching
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import crossing
from tests.fixtures import live_moving
from tests.sim.cases import loading

load_tests = loading.load_scenarios


OPTIONS = {'compute': {'stray_grace': 1}, 'DEFAULT': {'allow_resize_to_same_host': True}}


class DevicesMovingBase(testtools.TestCase):
    settings = {'cells': 1, 'hosts': 3, 'options': OPTIONS}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.hands = attaching.Attaching(self.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def boot(self, **options):
        """A server with a port and three volumes: its own, one to lose, one to keep."""
        self.server = self.stage.boot_full(**options)
        self.own = self.hands.attachments(self.server)[0]['volumeId']
        self.lost, self.kept, self.new = (self.hands.volume() for _number in range(3))
        self.hands.attached(self.server, self.lost)
        self.hands.attached(self.server, self.kept)
        self.plugged = self.hands.plug(self.server, net_id=self.hands.network())['port_id']

    def check(self, *volumes):
        """The server has these volumes, and so have its guest and the volume service."""
        self.hands.wait_idle(self.server)
        wanted = sorted(volumes)
        self.assertEqual(
            wanted, sorted(each['volumeId'] for each in self.hands.attachments(self.server))
        )
        self.assertEqual(
            [(volume, 'attached') for volume in wanted], self.hands.holdings(self.server)
        )
        self.assertEqual(wanted, sorted(self.hands.volumes_of_guest(self.server)))
        ports = sorted(each['port_id'] for each in self.hands.interfaces(self.server))
        self.assertEqual(ports, self.hands.ports_of_guest(self.server))
        self.assertIn(self.plugged, ports)
        self.assertEqual([], self.cloud.findings())


PLACES = ('cell1-host2', 'cell2-host1', 'the same host')


class ResizedBase(testscenarios.WithScenarios, DevicesMovingBase):
    """Devices change while a move waits for its user. where: the move goes"""

    settings = {'cells': 2, 'hosts': 2, 'options': OPTIONS}

    def move(self):
        if self.where == 'the same host':
            crossing.Crossing(self.cloud).disable('cell1-host2')
            crossing.Crossing(self.cloud).disable('cell2-host1')
            crossing.Crossing(self.cloud).disable('cell2-host2')
            self.stage.resize(self.server, 'm1.small')
        else:
            self.stage.act(self.server, 'migrate', {'host': self.where})
        self.cloud.wait(self.server, 'VERIFY_RESIZE')
        self.hands.wait_idle(self.server)


class ResizedTest(ResizedBase):
    """The user says how it ends."""

    scenarios = [
        (f'{where} {end}', {'where': where, 'end': end})
        for where in PLACES
        for end in ('confirmResize', 'revertResize')
    ]

    def test_devices_change_meanwhile(self):
        self.boot(availability_zone='nova:cell1-host1')
        self.move()
        self.check(self.own, self.lost, self.kept)
        self.hands.detached(self.server, self.lost)
        self.hands.attached(self.server, self.new)
        self.check(self.own, self.kept, self.new)
        self.hands.plug(self.server, net_id=self.hands.network(), status=409)
        self.hands.unplug(self.server, self.plugged, status=409)
        if self.end == 'confirmResize':
            self.stage.act(self.server, self.end, status=204)
        else:
            self.stage.act(self.server, self.end)
        self.cloud.wait(self.server, 'ACTIVE')
        self.check(self.own, self.kept, self.new)
        self.assertEqual('available', self.hands.volume_status(self.lost))
        self.hands.detached(self.server, self.new)
        self.hands.detached(self.server, self.kept)
        self.hands.unplug(self.server, self.plugged)
        self.hands.wait_idle(self.server)
        self.assertEqual([self.own], self.hands.volumes_of_guest(self.server))


class ResizedAndDeletedTest(ResizedBase):
    scenarios = [(where, {'where': where}) for where in PLACES]

    def test_delete(self):
        self.boot(availability_zone='nova:cell1-host1')
        self.move()
        self.hands.detached(self.server, self.lost)
        self.hands.attached(self.server, self.new)
        self.cloud.admin.compute.delete_server(self.server.id)
        self.cloud.wait_gone(self.server)
        self.hands.wait_idle(self.server)
        for volume in (self.lost, self.kept, self.new):
            self.assertEqual('available', self.hands.volume_status(volume))


class OtherMovesTest(DevicesMovingBase):
    def setUp(self):
        super().setUp()
        self.boot()

    def host(self):
        return self.cloud.admin.compute.get_server(self.server.id).compute_host

    def test_live_migration(self):
        before = self.host()
        self.stage.go(self.server)
        self.cloud.wait(self.server, 'ACTIVE')
        self.hands.wait_idle(self.server)
        self.assertNotEqual(before, self.host())
        self.check(self.own, self.lost, self.kept)
        self.hands.detached(self.server, self.lost)
        self.check(self.own, self.kept)

    def test_evacuation(self):
        before = self.host()
        self.stage.fail(before)
        self.stage.act(self.server, 'evacuate', {}, status=200, version='2.94')
        self.cloud.wait(self.server, 'ACTIVE')
        self.hands.wait_idle(self.server)
        self.assertNotEqual(before, self.host())
        self.check(self.own, self.lost, self.kept)
        self.stage.come_back(before)
        self.hands.detached(self.server, self.lost)
        self.check(self.own, self.kept)

    def test_shelve(self):
        self.stage.act(self.server, 'shelve')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        self.hands.wait_idle(self.server)
        self.hands.detached(self.server, self.lost)
        self.hands.attached(self.server, self.new)
        self.hands.plug(self.server, net_id=self.hands.network(), status=409)
        self.stage.act(self.server, 'unshelve')
        self.cloud.wait(self.server, 'ACTIVE')
        self.check(self.own, self.kept, self.new)
