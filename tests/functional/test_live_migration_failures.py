"""Live migrations whose hypervisors fail, in a whole cloud."""

from tests.functional import test_live_migration
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


@sample.in_turns(2)
class FailureTest(test_live_migration.LiveMigrationTestCase):
    """The hypervisors fail, before, during and after each effect."""

    def test_every_verb(self):
        for verb in (
            'check_live_migration',
            'pre_live_migration',
            'live_migrate',
            'post_live_migration',
            'confirm_migration',
        ):
            for when in ('before', 'during', 'after'):
                server = self.cloud.boot()
                self.moving.behave(
                    f'extends: instant\nfailures: [{{verb: {verb}, when: {when}, first: 1}}]\n'
                )
                self.moving.go(server)
                migration = self.moving.ended(server)
                found = self.cloud.wait(server, 'ACTIVE')
                self.assertEqual(
                    [found.compute_host], self.moving.running(server), f'{verb} {when}'
                )
                moved = found.compute_host != server.compute_host
                self.assertEqual(moved, migration['status'] == 'completed', f'{verb} {when}')
                action = self.moving.action(server, 'live-migration')
                self.assertEqual(moved, action.message is None, f'{verb} {when}')
                self.assertEqual({found.compute_host}, self.moving.hosts_held(server, migration))
                self.moving.behave('extends: instant\n')
                self.moving.go(server)
                self.assertEqual('completed', self.moving.ended(server)['status'])
                self.cloud.admin.compute.delete_server(server)

    def test_answers_that_wait_for_the_checks(self):
        """Before 2.34, a failure after the checks is no answer, however fast it is undone."""
        for verb in ('pre_live_migration', 'live_migrate'):
            server = self.cloud.boot()
            self.moving.behave(f'extends: instant\nfailures: [{{verb: {verb}}}]\n')
            self.moving.go(server, version='2.30')
            self.assertIn(self.moving.ended(server)['status'], ('failed', 'error'))
            self.assertUntouched(server)

    def test_a_guest_that_does_not_start(self):
        server = self.cloud.boot()
        self.moving.behave('extends: instant\nfailures: [{verb: post_live_migration}]\n')
        self.moving.go(server)
        # As in nova, though the server is at the destination. A reboot starts it there.
        self.assertEqual('error', self.moving.ended(server)['status'])
        self.assertNotEqual(server.compute_host, self.cloud.wait(server, 'ERROR').compute_host)
        self.moving.behave('extends: instant\n')
        self.moving.act(server, 'reboot', {'type': 'HARD'})
        self.assertIn(self.cloud.wait(server, 'ACTIVE').compute_host, self.moving.running(server))

    def test_a_copy_that_takes_too_long(self):
        self.cloud.cloud.confs['compute-cell1'].set_override(
            'live_migration_completion_timeout', 1, group='compute'
        )
        server, _migration = self.begin_endless()
        self.assertEqual('failed', self.moving.ended(server)['status'])
        self.assertUntouched(server)
