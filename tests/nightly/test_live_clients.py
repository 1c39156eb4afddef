"""The nova client's commands for live migration and evacuation, as processes."""

from tests.functional import test_live_clients


class NovaTest(test_live_clients.LiveClientTestCase):
    def nova(self, version, *words):
        return self.cli.nova('--os-compute-api-version', version, *words)

    def disable(self, host):
        """Disable a host until the test is over."""
        self.moving.change_service(host, status='disabled')
        self.addCleanup(self.moving.change_service, host, status='enabled')

    def test_live_migration(self):
        server = self.cloud.boot()
        self.nova('2.96', 'live-migration', server.id)
        server = self.assertMoved(server)
        dest = self.moving.others(server.compute_host)[0]
        self.disable(dest)
        self.nova('2.67', 'live-migration', '--force', server.id, dest)
        server = self.assertMoved(server, dest)
        self.nova('2.24', 'live-migration', '--block-migrate', server.id)
        server = self.assertMoved(server)
        self.behave_endlessly()
        self.nova('2.67', 'live-migration', server.id)
        number = self.moving.watched(server, 'running')['id']
        listed = self.nova('2.80', 'server-migration-list', server.id)
        self.assertIn('running', listed)
        shown = self.nova('2.80', 'server-migration-show', server.id, str(number))
        self.assertIn(str(512 * 2**20), shown)
        self.nova('2.80', 'live-migration-abort', server.id, str(number))
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.nova('2.67', 'live-migration', server.id)
        number = self.moving.watched(server, 'running')['id']
        self.nova('2.80', 'live-migration-force-complete', server.id, str(number))
        self.assertMoved(server)

    def test_evacuation(self):
        server = self.cloud.boot()
        dest = self.moving.others(server.compute_host)[0]
        self.disable(dest)
        self.moving.fail(server.compute_host)
        self.nova('2.67', 'evacuate', '--force', server.id, dest)
        self.assertMoved(server, dest)
        self.moving.come_back(server.compute_host)
        self.assertIn('completed', self.nova('2.80', 'migration-list'))
