"""The unmodified client's commands for live migration and evacuation, as processes.

Those of the nova client, which is older, are for `tests/nightly`.
"""

import json

from tests.fixtures import cli as cli_fixture
from tests.fixtures import live_moving
from tests.functional import base
from tools import sample


class LiveClientTestCase(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)
        self.cli = self.useFixture(cli_fixture.Cli(self.cloud))

    def openstack(self, version, *words):
        return self.cli.openstack('--os-compute-api-version', version, *words)

    def behave_endlessly(self):
        """No copy ends by itself until the test is over."""
        self.moving.behave(live_moving.ENDLESS)
        self.addCleanup(self.moving.behave, 'extends: instant')

    def assertMoved(self, server, host=None):
        """The server has left its host, for `host` if one is given; returns it as it is."""
        self.moving.ended(server)
        moved = self.cloud.wait(server, 'ACTIVE')
        self.assertNotEqual(server.compute_host, moved.compute_host)
        if host:
            self.assertEqual(host, moved.compute_host)
        return moved


@sample.in_turns(3)
class LiveClientTest(LiveClientTestCase):
    def test_migrations(self):
        server = self.cloud.boot()
        self.openstack('2.96', 'server', 'migrate', '--live-migration', '--wait', server.id)
        server = self.assertMoved(server)
        dest = self.moving.others(server.compute_host)[0]
        migrate = ('server', 'migrate', '--live-migration', '--wait')
        self.openstack('2.30', *migrate, '--host', dest, '--block-migration', server.id)
        self.assertMoved(server, dest)
        listed = json.loads(
            self.openstack(
                '2.80', 'server', 'migration', 'list', '--server', server.id, '-f', 'json'
            )
        )
        self.assertEqual(['completed'] * 2, [each['Status'] for each in listed])

    def test_a_migration_is_ended_early(self):
        server = self.cloud.boot()
        self.behave_endlessly()
        migration = ('server', 'migration')
        self.openstack('2.96', 'server', 'migrate', '--live-migration', server.id)
        running = self.moving.watched(server, 'running')
        # By its number this command asks for the wrong server.
        shown = json.loads(
            self.openstack('2.80', *migration, 'show', server.id, running['uuid'], '-f', 'json')
        )
        number = str(running['id'])
        self.assertEqual(('running', 512 * 2**20), (shown['Status'], shown['Memory Total Bytes']))
        found = self.cloud.admin.compute.get_server_migration(number, server.id)
        self.assertEqual(('running', 512 * 2**20), (found.status, found.memory_total_bytes))
        self.openstack('2.80', *migration, 'abort', server.id, number)
        self.assertEqual('cancelled', self.moving.ended(server)['status'])
        self.openstack('2.96', 'server', 'migrate', '--live-migration', server.id)
        number = str(self.moving.watched(server, 'running')['id'])
        self.openstack('2.80', *migration, 'force', 'complete', server.id, number)
        self.assertMoved(server)

    def test_evacuations(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.fail(source)
        self.openstack('2.94', 'server', 'evacuate', server.id)
        server = self.assertMoved(server)
        self.moving.come_back(source)
        self.moving.fail(server.compute_host)
        self.openstack('2.94', 'server', 'evacuate', '--host', source, server.id)
        self.assertMoved(server, source)
        self.moving.come_back(server.compute_host)
