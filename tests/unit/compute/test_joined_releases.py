"""Allocations and ports of several servers that are deleted together."""

import functools

import testtools

from nova_lite import context
from nova_lite.db.cell import instances
from tests.fixtures import cell
from tests.fixtures import combining


class TestJoinedReleases(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell())
        self.uuids = [self.cell.boot() for _ in range(3)]
        self.placement = self.cell.compute.site.placement
        self.placement.calls.clear()

    def release_together(self):
        releases = self.cell.compute.site.releases
        calls = [
            functools.partial(releases.release, context.admin(), self.cell.instance(uuid))
            for uuid in self.uuids
        ]
        return combining.together(releases._combiner, calls)

    def test_one_request(self):
        self.assertEqual([True] * 3, self.release_together())
        self.assertEqual({}, self.placement.allocations)
        self.assertEqual(['release_all'], self.placement.calls)

    def test_deletions_of_one_message(self):
        """One of the servers is deleted already."""
        servers = [
            {
                'context': self.cell.ask(uuid, 'delete', 'deleting').to_wire(),
                'instance': self.cell.instance(uuid),
            }
            for uuid in self.uuids
        ]
        self.cell.db.write(instances.mark_deleted, self.uuids[1])
        self.cell.compute.delete_instances(context.admin(), 'host-1', servers)
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.assertEqual([], self.cell.driver.list_guests('host-1'))
        for uuid in (self.uuids[0], self.uuids[2]):
            self.assertTrue(self.cell.row(uuid).deleted)
            event = ('compute_terminate_instance', 'host-1', 'Success')
            self.assertEqual(event, self.cell.events(uuid)[-1])

    def test_one_has_none(self):
        del self.placement.allocations[self.uuids[1]]
        self.assertEqual([True, False, True], self.release_together())
        self.assertEqual({}, self.placement.allocations)

    def deallocate_together(self, *kept):
        releases = self.cell.compute.site.releases
        calls = [
            functools.partial(releases.deallocate, context.admin(), uuid, kept)
            for uuid in self.uuids
        ]
        return combining.together(releases._lists, calls)

    def test_one_list_of_ports(self):
        network = self.cell.network
        for number, uuid in enumerate(self.uuids):
            network.add_port(f'port-{number}')
            network.ports[f'port-{number}']['server'] = uuid
        network.calls.clear()
        kept = {'id': 'port-1', 'preserve_on_delete': True}
        self.assertEqual([None] * 3, self.deallocate_together(kept))
        self.assertEqual(['held_by'] + ['deallocate'] * 3, network.calls)
        self.assertEqual(['port-1'], list(network.ports))
        self.assertIsNone(network.ports['port-1']['server'])
