"""Computes that end without a word in each phase of a live migration, and come back."""

import testtools

from nova_lite import context
from nova_lite.db.cell import actions
from nova_lite.db.cell import live_migrations
from nova_lite.moves import evacuate
from nova_lite.moves import live_migrate
from nova_lite.moves.parts import live_checks
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

# Long enough for a busy test to see that the step is under way.
SLOW = "extends: instant\nhosts: [{{match: '*', delays: {{{verb}: 5}}}}]\n"
PHASES = {
    live_checks.CHECK_DEST: 'check_live_migration',
    live_migrate.PREPARE: 'pre_live_migration',
    live_migrate.COPY: 'live_migrate',
    live_migrate.START: 'post_live_migration',
    live_migrate.CLEAN: 'confirm_migration',
}


@sample.in_turns(3)
class KillTest(testtools.TestCase):
    settings = own_cloud.NO_GRACE

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = live_moving.LiveMoving(self.cloud)

    def tearDown(self):
        # Where the source does not answer three times, its guest is left to its audit.
        self.moving.manager.audit()
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def restart(self):
        self.moving.kill_compute()
        self.moving.start_compute()

    def assertRunsOnce(self, server):
        host = self.cloud.wait(server, 'ACTIVE').compute_host
        self.assertEqual([host], self.moving.running(server))
        return host

    def begin_endless(self):
        server = self.cloud.boot()
        self.moving.behave(live_moving.ENDLESS)
        self.moving.go(server)
        return server, self.moving.watched(server, 'running')

    def test_in_each_phase(self):
        for step, verb in PHASES.items():
            server = self.cloud.boot()
            self.moving.behave(SLOW.format(verb=verb))
            self.moving.go(server)
            self.moving.waits_at(server, step)
            self.restart()
            self.assertEqual('completed', self.moving.ended(server)['status'], step)
            self.assertNotEqual(server.compute_host, self.assertRunsOnce(server), step)
            self.cloud.admin.compute.delete_server(server)

    def test_while_it_waits_for_its_turn(self):
        server, migration = self.begin_endless()
        waiting = self.cloud.boot(availability_zone=f'nova:{server.compute_host}')
        self.moving.go(waiting)
        self.moving.watched(waiting, 'queued')
        self.restart()
        # The copy goes on, and its slot is not given away.
        self.assertEqual('queued', self.moving.watched(waiting, 'queued', 'running')['status'])
        self.moving.force_complete(server, migration)
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.moving.force_complete(waiting, self.moving.watched(waiting, 'running'))
        self.assertEqual('completed', self.moving.ended(waiting)['status'])

    def test_evacuated_while_it_is_copied(self):
        """A host that was only forced down would copy for ever, and keep its guest running."""
        server, _migration = self.begin_endless()
        self.moving.change_service(server.compute_host, forced_down=True)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.assertEqual('done', self.moving.ended(server)['status'])
        rebuilt = self.cloud.wait(server, 'ACTIVE').compute_host
        self.assertNotEqual(server.compute_host, rebuilt)
        self.cloud.wait_for(
            lambda: self.moving.running(server) == [rebuilt], 'the guest to run once'
        )
        self.assertEqual([], self.cloud.findings())
        self.moving.kill_compute()
        self.moving.start_compute()
        self.moving.come_back(server.compute_host)
        self.assertEqual('completed', self.moving.migration(server)['status'])

    def test_during_an_abort(self):
        server, migration = self.begin_endless()
        self.moving.behave(live_moving.ENDLESS + '    delays: {abort_live_migration: 2}\n')
        self.assertEqual(202, self.moving.abort(server, migration))
        self.restart()
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.assertEqual(server.compute_host, self.assertRunsOnce(server))

    def test_an_abort_whose_message_was_lost(self):
        server, migration = self.begin_endless()
        cell = self.cloud.cloud.daemons['super-conductor'].manager.world.cells.of_host(
            server.compute_host
        )
        cell.db.write(_command, migration['uuid'])
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.assertEqual(server.compute_host, self.assertRunsOnce(server))

    def test_a_forced_end_whose_message_was_lost(self):
        """It ended as it was to: who asked for it is told of no error."""
        server = self.cloud.boot()
        self.moving.behave(SLOW.format(verb='post_live_migration'))
        self.moving.go(server)
        self.moving.waits_at(server, live_migrate.START)
        cells = self.cloud.cloud.daemons['super-conductor'].manager.world.cells
        cells.of_host(server.compute_host).db.write(_force, self.moving.migration(server)['uuid'])
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertEqual(
            [('compute_live_migration_force_complete', 'Success')],
            self.moving.events(server, 'live_migration_force_complete'),
        )

    def test_in_post_copy(self):
        server = self.cloud.boot()
        self.moving.behave(live_moving.POST_COPY)
        self.moving.go(server)
        migration = self.moving.watched(server, 'running')
        self.moving.force_complete(server, migration)
        self.moving.waits_at(server, live_migrate.CLEAN)
        self.restart()
        self.assertEqual('completed', self.moving.ended(server)['status'])
        self.assertNotEqual(server.compute_host, self.assertRunsOnce(server))

    def test_the_source_loses_power_while_it_copies(self):
        server, _migration = self.begin_endless()
        self.moving.fail(server.compute_host)
        self.assertEqual('failed', self.moving.ended(server)['status'])
        self.assertEqual([], self.moving.running(server))
        self.moving.come_back(server.compute_host)
        self.cloud.admin.compute.reboot_server(server, 'HARD')
        self.assertEqual(server.compute_host, self.assertRunsOnce(server))

    def test_the_source_loses_power_and_is_not_forced_down(self):
        """The migration waits for it, until an evacuation is requested."""
        server, _migration = self.begin_endless()
        self.moving.power_off(server.compute_host)
        self.moving.wait_down(server.compute_host)
        self.moving.act(server, 'evacuate', {}, status=200)
        self.assertEqual('done', self.moving.ended(server)['status'])
        statuses = [each['status'] for each in self.moving.migrations(server)]
        self.assertEqual(['done', 'failed'], statuses)
        self.assertRunsOnce(server)
        self.moving.come_back(server.compute_host)

    def test_the_source_is_down_for_too_long_while_it_copies(self):
        server, _migration = self.begin_endless()
        self.moving.change_service(server.compute_host, forced_down=True)
        self.assertEqual('failed', self.moving.ended(server)['status'])
        self.cloud.wait(server, 'ERROR')
        # The hypervisor could not be asked; the audit of the host does so later.
        self.moving.change_service(server.compute_host, forced_down=False)
        self.moving.manager.audit()
        self.cloud.wait_for(
            lambda: not self.moving.manager.site.driver.list_jobs(server.compute_host),
            'the copy to be aborted',
        )
        self.assertEqual([server.compute_host], self.moving.running(server))

    def test_the_destination_loses_power_while_it_copies(self):
        server, migration = self.begin_endless()
        self.moving.fail(migration['dest_compute'])
        self.assertEqual('failed', self.moving.ended(server)['status'])
        self.assertEqual(server.compute_host, self.assertRunsOnce(server))
        self.moving.come_back(migration['dest_compute'])

    def test_while_it_rebuilds(self):
        server = self.cloud.boot()
        self.moving.behave(SLOW.format(verb='spawn'))
        self.moving.fail(server.compute_host)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.moving.waits_at(server, evacuate.REBUILD)
        self.restart()
        self.assertEqual('done', self.moving.ended(server)['status'])
        self.assertNotEqual(server.compute_host, self.assertRunsOnce(server))
        self.moving.come_back(server.compute_host)


def _command(connection, uuid):
    row = live_migrations.lock(connection, uuid)
    live_migrations.add_command(connection, row, live_migrations.ABORT, context.admin())


def _force(connection, uuid):
    ctxt, row = context.admin(), live_migrations.lock(connection, uuid)
    actions.start(connection, ctxt, row.instance_uuid, 'live_migration_force_complete')
    live_migrations.add_command(connection, row, live_migrations.FORCE_COMPLETE, ctxt)
