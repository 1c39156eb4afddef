"""Neighbours that are silent right after a pivot: what is left is cleaned up later."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import sagas
from nova_lite.moves import detach_volume
from nova_lite.moves import kinds
from nova_lite.moves import neighbours
from nova_lite.moves import shelve
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import image_snapshot
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import run
from tests.fixtures import attaching
from tests.fixtures import moving
from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests

HERE, THERE = 'cell1-host1', 'cell1-host2'


class CleaningTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.stage = moving.Moving(self.cloud)
        self.hands = attaching.Attaching(self.cloud)
        self.server = self.cloud.boot(availability_zone=f'nova:{HERE}')
        self.answers = runtime.Event()
        self.patch(run, 'FIRST_PAUSE_S', 0.01)

    def require_answer(self, service):
        if not self.answers.is_set():
            raise exception.Unavailable(service=service, reason='it hangs')

    def dirty(self, kind):
        """The saga of that kind, once it has ended but for what it could not clean."""
        found = []

        def ended():
            rows = self.stage.world.api_db.read(sagas.every, instance_uuid=self.server.id)
            found[:] = [row for row in rows if row.kind == kind and row.state == journal.CLEANING]
            return bool(found)

        self.cloud.wait_for(ended, f'{kind} to end')
        return found[0].uuid

    def wait_clean(self, uuid, state=journal.DONE):
        def is_clean():
            return self.stage.world.api_db.read(sagas.get, uuid).state == state

        self.cloud.wait_for(is_clean, 'the saga to be clean')

    def test_a_volume_is_free_again_however_long_its_service_hangs(self):
        self.patch(cleaning, 'FIRST_PAUSE_S', 0.2)
        test = self

        class Guest(guest_devices.GuestDevices):
            def end_attachment(self):
                test.require_answer('cinder')
                super().end_attachment()

        self.patch(guest_devices, 'GuestDevices', Guest)
        volume, other = self.hands.volume(), self.hands.volume()
        self.hands.attached(self.server, volume)
        self.hands.detach(self.server, volume)
        kind = detach_volume.DetachVolume.kind
        uuid = self.dirty(kind)
        self.assertEqual('detaching', self.hands.volume_status(volume))
        # No test may end so.
        named = [found.what for found in self.cloud.findings(settle_s=0)]
        self.assertIn(f'saga {uuid} ({kind})', named)
        self.hands.attached(self.server, other)
        self.answers.set()
        self.wait_clean(uuid)
        self.assertEqual('available', self.hands.volume_status(volume))
        self.assertEqual([other], self.hands.volumes_of_guest(self.server))
        self.hands.attached(self.server, volume)

    def test_image_of_an_undone_shelve(self):
        self.patch(cleaning, 'FIRST_PAUSE_S', 0.2)

        class Silent(shelve.Shelve):
            def snapshot(self):
                raise exception.Conflict(reason='a test says so')

        def silent(image):
            self.require_answer('glance')
            drop(image)

        drop = image_snapshot.Snapshot.drop
        self.patch(image_snapshot.Snapshot, 'drop', silent)
        self.patch(kinds, 'KINDS', {**kinds.KINDS, Silent.kind: Silent})
        before = {image.id for image in self.cloud.admin.image.images()}
        self.stage.act(self.server, 'shelve')
        uuid = self.dirty(Silent.kind)
        self.assertEqual('ACTIVE', self.status(self.server))
        after = {image.id for image in self.cloud.admin.image.images()}
        self.assertEqual({uuid}, after - before)
        self.answers.set()
        self.wait_clean(uuid, journal.UNDONE)
        self.assertEqual(before, {image.id for image in self.cloud.admin.image.images()})

    def test_bindings_that_a_later_move_needs_are_not_cleaned_up(self):
        """Confirmed with the network silent; then the server moves back to that host."""
        self.patch(cleaning, 'FIRST_PAUSE_S', 600)
        unbind = neighbours.unbind

        def silent(scope, network_info, host):
            self.require_answer('neutron')
            unbind(scope, network_info, host)

        self.patch(neighbours, 'unbind', silent)
        self.hands.plug(self.server, net_id=self.hands.network())
        self.hands.wait_idle(self.server)
        self.stage.act(self.server, 'migrate')
        self.cloud.wait(self.server, 'VERIFY_RESIZE')
        self.stage.act(self.server, 'confirmResize', status=204)
        uuid = self.dirty('confirm-resize')
        self.answers.set()
        self.stage.act(self.server, 'migrate')
        self.cloud.wait(self.server, 'VERIFY_RESIZE')
        self.assertEqual(HERE, self.cloud.admin.compute.get_server(self.server.id).compute_host)
        self.wake(uuid)
        self.wait_clean(uuid)
        (port,) = self.cloud.admin.network.ports(device_id=self.server.id)
        self.assertEqual((HERE, 'ACTIVE'), (port.binding_host_id, port.status))
        self.stage.act(self.server, 'revertResize')
        self.cloud.wait(self.server, 'ACTIVE')

    def wake(self, uuid):
        """Its pause is over."""
        self.stage.world.api_db.write(_due, uuid)
        self.stage.world.engine.submit(uuid)


def _due(connection, uuid):
    past = sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid)
    connection.execute(past.values(wake_at=sagas.TABLE.c.created_at))
