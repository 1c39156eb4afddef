"""Devices whose host falls silent in the middle: no other server gets them too early."""

import testtools

from nova_lite import exception
from nova_lite.db.api import sagas
from nova_lite.moves import attach_interface
from nova_lite.moves import attach_volume
from nova_lite.moves import detach_volume
from nova_lite.moves import swap_volume
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from tests.fixtures import attaching
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

# Of attempts that find the host silent.
SEVERAL = 3


class LostHostTest(testtools.TestCase):
    settings = own_cloud.NO_GRACE

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.hands = attaching.Attaching(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        self.patch(cleaning, 'FIRST_PAUSE_S', 0.1)
        self.patch(cleaning, 'LONGEST_PAUSE_S', 0.5)
        self.server = self.cloud.boot()
        self.host = self.server.compute_host

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    # ---- the host ----

    def lose_at(self, kind, step, lose=None):
        """At that step of the next saga the host does what it shall and is not heard again."""

        def meanwhile():
            (lose or self.silence)()
            raise exception.ServiceIsDown(binary='nova-compute', host=self.host)

        self.faults.fault = saga_faults.Fault(
            kind, step, saga_faults.Mode.DURING_AFTER, meanwhile=meanwhile
        )

    def silence(self):
        self.stage.change_service(self.host, forced_down=True)

    def restore(self):
        self.stage.change_service(self.host, forced_down=False)

    # ---- the saga ----

    def in_vain(self):
        """The saga's row, once its duty has found the host silent several times."""
        row = self.faults.ended(self.server)
        self.assertEqual(journal.UNDONE, journal.outcome(row))

        def has_tried():
            found = self.row(row.uuid)
            return found if found.attempts > SEVERAL else None

        found = self.cloud.wait_for(has_tried, 'the duty to be tried')
        self.assertEqual(journal.CLEANING, found.state)
        return found

    def row(self, uuid):
        return self.stage.world.api_db.read(sagas.get, uuid)

    def wait_settled(self, row):
        self.cloud.wait_for(
            lambda: self.row(row.uuid).state == journal.UNDONE, 'the duty to be done'
        )

    def watch_ends(self):
        """[the guest's devices whenever an attachment ends or a port is released], to come."""
        world, seen = self.stage.world, []

        def watched(end):
            def act(*args):
                seen.append(self.hands.devices(self.server))
                return end(*args)

            return act

        for service, name in ((world.volume, 'delete_attachment'), (world.network, 'release')):
            self.patch(service, name, watched(getattr(service, name)))
        return seen

    # ---- attached ----

    def test_volume_is_free_when_the_guest_has_it_no_longer(self):
        volume, other = self.hands.volume(), self.cloud.boot()
        seen = self.watch_ends()
        self.lose_at('attach-volume', attach_volume.PLUG)
        self.hands.attach(self.server, volume, status=None)
        row = self.in_vain()
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.assertEqual([], self.hands.attachments(self.server))
        for each in (self.server, other):
            self.hands.attach(each, volume, status=400)
        self.restore()
        self.wait_settled(row)
        self.assertEqual([[]], seen)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.hands.attached(other, volume)
        self.assertEqual([volume], self.hands.volumes_of_guest(other))

    def test_other_volume_of_a_swap(self):
        old, new = self.hands.volume(), self.hands.volume()
        self.hands.attached(self.server, old)
        seen = self.watch_ends()
        self.hands.migrating(old)
        self.lose_at('swap-volume', swap_volume.SWAP)
        path = f'/servers/{self.server.id}/os-volume_attachments/{old}'
        body = {'volumeAttachment': {'volumeId': new}}
        self.cloud.api('PUT', path, version=attaching.LATEST, json=body)
        row = self.in_vain()
        self.assertEqual([new], self.hands.volumes_of_guest(self.server))
        self.assertNotEqual('available', self.hands.volume_status(new))
        self.restore()
        self.wait_settled(row)
        self.assertNotIn(('volume', new), seen[-1])
        self.assertEqual([old], self.hands.volumes_of_guest(self.server))
        self.assertEqual('available', self.hands.volume_status(new))
        self.assertEqual('in-use', self.hands.volume_status(old))

    def test_volume_that_does_not_migrate(self):
        """Cinder waits for a report until the guest has no target, and then deletes it."""
        volume, storage = self.hands.volume(), self.cloud.admin.block_storage
        self.hands.attached(self.server, volume)
        self.lose_at('swap-volume', swap_volume.SWAP)
        self.hands.migrate(volume)
        self.cloud.wait_for(lambda: self.faults.fault.met, 'the swap')
        row = self.in_vain()
        self.assertEqual('migrating', storage.get_volume(volume).migration_status)
        self.assertNotEqual([volume], self.hands.volumes_of_guest(self.server))
        self.restore()
        self.wait_settled(row)
        self.assertEqual('error', storage.get_volume(volume).migration_status)
        self.assertEqual('in-use', self.hands.volume_status(volume))
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.assertEqual([volume], [each.id for each in storage.volumes(all_projects=True)])

    def test_port(self):
        port = self.hands.port()
        seen = self.watch_ends()
        self.lose_at('attach-interface', attach_interface.PLUG)
        self.hands.plug(self.server, port_id=port, status=None)
        row = self.in_vain()
        self.assertEqual([port], self.hands.ports_of_guest(self.server))
        self.assertEqual(self.server.id, self.cloud.admin.network.get_port(port).device_id)
        self.restore()
        self.wait_settled(row)
        self.assertEqual([], seen[-1])
        self.assertEqual('', self.cloud.admin.network.get_port(port).device_id)
        self.hands.plug(self.server, port_id=port)

    # ---- detached ----

    def test_volume_that_stays_attached(self):
        volume = self.hands.volume()
        self.hands.attached(self.server, volume)
        self.lose_at('detach-volume', detach_volume.UNPLUG)
        self.hands.detach(self.server, volume, status=None)
        row = self.in_vain()
        self.assertEqual([], self.hands.volumes_of_guest(self.server))
        self.restore()
        self.wait_settled(row)
        self.assertEqual([volume], self.hands.volumes_of_guest(self.server))
        self.assertEqual('in-use', self.hands.volume_status(volume))

    # ---- what becomes of the server meanwhile ----

    def test_server_is_evacuated(self):
        volume = self.hands.volume()
        self.lose_at('attach-volume', attach_volume.PLUG, lambda: self.stage.fail(self.host))
        self.hands.attach(self.server, volume, status=None)
        row = self.in_vain()
        self.assertNotEqual('available', self.hands.volume_status(volume))
        self.stage.act(self.server, 'evacuate', {}, status=200, version='2.94')
        self.cloud.wait(self.server)
        self.wait_settled(row)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.stage.come_back(self.host)
        self.assertEqual([], self.hands.volumes_of_guest(self.server))

    def test_server_is_deleted(self):
        volume = self.hands.volume()
        self.lose_at('attach-volume', attach_volume.PLUG)
        self.hands.attach(self.server, volume, status=None)
        row = self.in_vain()
        self.cloud.admin.compute.delete_server(self.server)
        self.cloud.wait_gone(self.server)
        self.wait_settled(row)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.restore()
        self.stage.manager.audit()
        guests = self.stage.manager.site.driver.list_guests
        self.cloud.wait_for(lambda: not guests(self.host), f'{self.host} to be clear')
