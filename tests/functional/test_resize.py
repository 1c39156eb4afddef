"""Resize and cold migrate in a whole cloud: confirmed, reverted, refused, deleted."""

import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import moving


class ResizeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(cells=1, hosts=3))
        self.moving = moving.Moving(self.cloud)

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def test_resize_and_confirm(self):
        server = self.cloud.boot()
        source = server.compute_host
        self.moving.resize(server, 'm1.small')
        resized = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.assertNotEqual(source, resized.compute_host)
        self.assertEqual('m1.small', resized.flavor.name)
        migration = self.moving.migration(server)
        self.assertEqual('finished', migration['status'])
        self.assertEqual('resize', migration['migration_type'])
        self.assertEqual(source, migration['source_compute'])
        self.assertEqual({source, resized.compute_host}, self.moving.hosts_held(server, migration))
        self.assertEqual([], self.cloud.findings())
        self.moving.act(server, 'confirmResize', status=204)
        confirmed = self.cloud.wait(server, 'ACTIVE')
        self.assertEqual(resized.compute_host, confirmed.compute_host)
        self.assertEqual('confirmed', self.moving.migration(server)['status'])
        self.assertEqual({}, self.moving.allocations(migration['uuid']))
        self.assertEqual(
            ['confirmResize', 'resize', 'create'],
            [action.action for action in self.cloud.admin.compute.server_actions(server)],
        )
