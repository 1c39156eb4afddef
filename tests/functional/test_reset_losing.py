"""An administrator resets the state of a server before its guest is destroyed, or after that.

In the first case the server keeps its guest. In the second it is in ERROR, if its host can create
or restore no guest.
"""

import fixtures

from nova_lite.virt import model
from nova_lite.virt.sim import census
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(3)
class LosingTest(own_cloud.OwnCloudTest):
    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def tearDown(self):
        for server in self.cloud.admin.compute.servers():
            self.cloud.admin.compute.delete_server(server.id)
            self.cloud.wait_gone(server)
        # What a host has kept of a deleted server.
        self.moving.manager.audit()
        super().tearDown()

    def reset(self, kind, step, verb):
        """Reset the state before a step, after which the verb of hosts fails.

        Return the server afterwards, its former image and whether its host has its guest.
        """
        scenario = scenarios.SCENARIOS[kind]
        server = scenario.boot(self.moving)
        scenario.prepare(self.moving, server)
        self.moving.wait_idle(server)

        def meanwhile():
            self.moving.act(server, 'os-resetState', {'state': 'active'})
            self.cloud.cloud.faults.add({'verb': verb})

        mode = saga_faults.Mode.DURING_BEFORE
        self.faults.fault = saga_faults.Fault(kind, step, mode, meanwhile=meanwhile)
        scenario.ask(self.moving, server)
        self.faults.ended(server)
        self.assertTrue(self.faults.fault.met)
        self.cloud.cloud.faults.clear()
        found = self.cloud.admin.compute.get_server(server.id)
        return found, server.image.id, self.has_guest(found)

    def has_guest(self, server):
        path = self.cloud.cloud.places.guests_path('cell1')
        return (server.id, server.compute_host, model.Role.RESIDENT) in {
            (guest.uuid, guest.node, guest.role) for guest in census.guests(path)
        }

    def test_rebuild_before_the_guest_is_destroyed(self):
        server, image, has_guest = self.reset('rebuild', 'destroy-former-guest', 'spawn')
        self.assertTrue(has_guest)
        self.assertEqual(('ACTIVE', image), (server.status, server.image.id))
        self.assertEqual('Error', self.moving.action(server, 'rebuild')['message'])

    def test_rebuild_after_the_guest_was_destroyed(self):
        server, _image, has_guest = self.reset('rebuild', 'rebuild-guest', 'spawn')
        self.assertEqual((False, 'ERROR'), (has_guest, server.status))
        self.assertIn('spawn', server.fault['message'])

    def test_revert_before_the_guest_is_destroyed(self):
        found = self.reset('revert-resize', 'destroy-on-destination', 'revert_migration')
        self.assertEqual((True, 'ACTIVE'), (found[2], found[0].status))
        self.assertEqual('Error', self.moving.action(found[0], 'revertResize')['message'])

    def test_revert_after_the_guest_was_destroyed(self):
        found = self.reset('revert-resize', 'finish-revert-on-source', 'revert_migration')
        self.assertEqual((False, 'ERROR'), (found[2], found[0].status))
        self.assertIn('revert_migration', found[0].fault['message'])

    def test_live_migration_that_no_host_can_end_or_undo(self):
        """The audit of the destination removes the guest that was to arrive there."""
        server, _image, has_guest = self.reset('live-migration', 'copy', '[!d]*')
        self.assertEqual((True, 'ERROR'), (has_guest, server.status))

    def test_deletion_after_the_guest_was_destroyed(self):
        """It goes on when Cinder answers again: its owner was told that the server is deleted."""
        pauses = 'nova_lite.compute.guest_work.PERSIST_PAUSES_S'
        self.useFixture(fixtures.MonkeyPatch(pauses, (0.1,)))
        server, manager = self.moving.boot_full(), self.moving.manager
        request = 'DELETE */attachments/*'
        self.cloud.cloud.faults.add({'service': 'volume', 'request': request, 'status': 503})
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_for(
            lambda: not (self.has_guest(server) or manager.site.jobs.keys()), 'the first try'
        )
        self.moving.act(server, 'os-resetState', {'state': 'active'})
        self.cloud.cloud.faults.clear()
        manager._resume.run(0)
        self.cloud.wait_gone(server)
