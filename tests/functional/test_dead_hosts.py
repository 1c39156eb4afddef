"""Moves whose hosts fail in the middle: they end soon, and the server can be recovered."""

import testtools

from nova_lite.moves import live_migrate
from nova_lite.moves import resize
from nova_lite.moves import steps
from nova_lite.moves import unshelve
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(2)
class DeadHostTest(testtools.TestCase):
    settings = own_cloud.NO_GRACE

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def silence(self, server, kind, step):
        """At that step of a move its destination makes the guest, and is not heard of again."""
        lost = []

        def meanwhile():
            lost.append(self.stage.saga(server).data[steps.CHOOSE]['service_host'])
            self.stage.change_service(lost[0], forced_down=True)
            raise saga_faults.Injected(step=step, mode='never answered')

        self.faults.fault = saga_faults.Fault(
            kind, step, saga_faults.Mode.DURING_AFTER, meanwhile=meanwhile
        )
        return lost

    def return_of(self, host):
        """The host is heard of again, and looks at what it has."""
        self.stage.change_service(host, forced_down=False)
        self.stage.manager.audit()
        self.cloud.wait_for(
            lambda: not self.stage.manager.site.driver.list_guests(host), f'{host} to be clear'
        )

    def test_the_guest_may_run_on_the_destination(self):
        """It is not started at its source until its user says so."""
        server = self.stage.boot_full()
        lost = self.silence(server, 'migrate', resize.FINISH)
        self.stage.act(server, 'migrate')
        self.assertEqual('undone', self.faults.ended(server).state)
        failed = self.cloud.wait(server, 'ERROR')
        self.assertEqual(server.compute_host, failed.compute_host)
        self.assertEqual(lost, self.stage.running(server))
        # It is heard of again, and has not looked yet at what it has.
        self.stage.change_service(lost[0], forced_down=False)
        self.cloud.admin.compute.reboot_server(server, 'HARD')
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual([server.compute_host], self.stage.running(server))

    def unshelve_in_vain(self, server):
        """Shelve a server, and lose the host that it is unshelved on; returns that in a list."""
        self.stage.act(server, 'shelve')
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        self.stage.wait_idle(server)
        lost = self.silence(server, 'unshelve', unshelve.SPAWN)
        self.stage.act(server, 'unshelve')
        self.assertEqual('undone', self.faults.ended(server).state)
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
        return lost

    def test_unshelved_to_a_host_that_is_lost(self):
        """The server can be unshelved once more, to another host."""
        server = self.stage.boot_full()
        lost = self.unshelve_in_vain(server)
        self.return_of(lost[0])
        self.stage.act(server, 'unshelve')
        self.cloud.wait(server, 'ACTIVE')

    def test_unshelved_while_it_may_run(self):
        """Whatever a lost host was made to run is removed before another host runs it."""
        server = self.stage.boot_from_volume()
        lost = self.unshelve_in_vain(server)
        self.assertEqual(lost, self.stage.running(server))
        self.assertEqual([], [each['migration_type'] for each in self.stage.migrations(server)])
        # It is heard of again, and has not looked yet at what it has.
        self.stage.change_service(lost[0], forced_down=False)
        other = self.stage.others(lost[0])[0]
        self.stage.act(server, 'unshelve', {'host': other})
        self.cloud.wait(server, 'ACTIVE')
        self.assertEqual([other], self.stage.running(server))
        self.stage.wait_idle(server)

    def test_deleted_without_power(self):
        """The server cannot be restored. A user who cannot wait deletes it once more."""
        server = self.stage.boot_full()
        host = server.compute_host
        self.stage.power_off(host)
        self.cloud.admin.compute.delete_server(server)
        self.stage.change_service(host, forced_down=True)
        refused = self.stage.act(server, 'evacuate', {}, status=409)
        self.assertIn('task_state deleting', refused.json()['conflictingRequest']['message'])
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.stage.power_on(host)
        self.return_of(host)

    def test_all_hosts_fail_and_the_server_is_deleted(self):
        """No host that returns keeps a guest of it, though none could undo its part."""
        hosts = self.stage.others()
        for kind, step, ask in (
            ('live-migration', live_migrate.COPY, self.stage.go),
            ('migrate', resize.FINISH, lambda server: self.stage.act(server, 'migrate')),
        ):
            server = self.stage.boot_full()

            def fail(server=server):
                for host in hosts:
                    self.stage.fail(host)
                self.cloud.admin.compute.delete_server(server)

            mode = saga_faults.Mode.DURING_AFTER
            self.faults.fault = saga_faults.Fault(kind, step, mode, meanwhile=fail)
            ask(server)
            self.faults.ended(server)
            self.cloud.wait_gone(server)
            for host in hosts:
                self.stage.come_back(host)
                self.return_of(host)
            self.assertEqual([], self.cloud.findings())
