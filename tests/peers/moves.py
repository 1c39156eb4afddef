"""Moves of servers in a cloud that has a real service for a neighbour."""

import testtools

from tests.fixtures import live_moving
from tests.fixtures import servers

FAILING = 'extends: instant\nfailures: [{verb: finish_migration, first: 9}]\n'


class PeerMovesTest(testtools.TestCase):
    """There and back, with a server on cell1-host1 for each test.

    peer, cloud_class: of the neighbour and of a cloud with it. Subclasses have besides
    leftovers(): what the neighbour has of servers that are gone, and
    reach(status, host, *others): the server has a status, and all of the neighbour's that is its
        own on a host; others: hosts to which it may go back
    """

    peer = cloud_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(cls.peer)
        cls.cloud = cls.cloud_class(cells=2, hosts=2)
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)
        cls.moving = live_moving.LiveMoving(cls.cloud)

    def setUp(self):
        super().setUp()
        self.server = self.moving.boot_full(availability_zone='nova:cell1-host1')

    def tearDown(self):
        self.cloud.admin.compute.delete_server(self.server, ignore_missing=True)
        self.cloud.wait_gone(self.server)
        self.assertEqual([], self.cloud.findings())
        self.assertEqual([], self.leftovers())
        super().tearDown()

    def act(self, action, content=None, **options):
        self.moving.act(self.server, action, content, **options)

    def test_live_migration(self):
        self.act('os-migrateLive', {'host': None, 'block_migration': 'auto'})
        self.reach('ACTIVE', 'cell1-host2')

    def test_resize_and_revert(self):
        self.moving.resize(self.server, 'm1.small')
        self.reach('VERIFY_RESIZE', 'cell1-host2', 'cell1-host1')
        self.act('revertResize')
        self.reach('ACTIVE', 'cell1-host1')

    def test_migrate_and_confirm(self):
        self.act('migrate', {'host': 'cell1-host2'})
        self.reach('VERIFY_RESIZE', 'cell1-host2', 'cell1-host1')
        self.act('confirmResize', status=204)
        self.reach('ACTIVE', 'cell1-host2')

    def test_resize_that_is_undone(self):
        self.cloud.behave(FAILING)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        self.moving.resize(self.server, 'm1.small')
        self.reach('ACTIVE', 'cell1-host1')
        self.assertEqual('error', self.moving.migration(self.server)['status'])

    def test_to_another_cell_and_back(self):
        self.act('migrate', {'host': 'cell2-host1'})
        self.reach('VERIFY_RESIZE', 'cell2-host1', 'cell1-host1')
        self.act('revertResize')
        self.reach('ACTIVE', 'cell1-host1')
        self.act('migrate', {'host': 'cell2-host2'})
        self.reach('VERIFY_RESIZE', 'cell2-host2', 'cell1-host1')
        self.act('confirmResize', status=204)
        self.reach('ACTIVE', 'cell2-host2')

    def test_evacuation(self):
        self.moving.fail('cell1-host1')
        self.act('evacuate', {}, status=200, version='2.94')
        self.moving.ended(self.server)
        self.reach('ACTIVE', 'cell1-host2')
        self.moving.come_back('cell1-host1')
