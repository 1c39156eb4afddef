"""Allocations of several servers that are deleted together."""

import functools

import testtools

from nova_lite import context
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

    def test_one_has_none(self):
        del self.placement.allocations[self.uuids[1]]
        self.assertEqual([True, False, True], self.release_together())
        self.assertEqual({}, self.placement.allocations)
