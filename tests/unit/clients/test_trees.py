"""Allocations on nodes and the providers below them, on the real placement."""

from nova_lite import exception
from nova_lite import runtime
from tests.unit.clients import base

CLASS = 'NET_BW_EGR_KILOBIT_PER_SEC'


class TreesTest(base.PlacementTestCase):
    """A question about a node covers all providers below it."""

    def setUp(self):
        super().setUp()
        self.nodes = [self.add_host('one'), self.add_host('two')]
        self.bridges = [self.add_bridge(node) for node in self.nodes]
        self.instance, self.migration = base.consumer(), runtime.new_uuid()
        self.claim(0)
        self.first = {self.nodes[0], self.bridges[0]}
        self.both = {*self.nodes, *self.bridges}

    def add_bridge(self, node):
        uuid = runtime.new_uuid()
        self.providers.ensure(self.admin, uuid, f'bridge of {node}', parent=node)
        self.providers.set_inventories(self.admin, uuid, {CLASS: {'total': 100}})
        return uuid

    def claim(self, index, **options):
        wanted = base.request(self.nodes[index])
        wanted['allocations'][self.bridges[index]] = {'resources': {CLASS: 60}}
        return self.placement.claim(self.admin, self.instance, wanted, **options)

    def on(self, consumer):
        return set(self.placement.holding(self.admin, consumer).allocations)

    def test_claim_beside(self):
        refused = exception.AllocationConflict
        self.assertRaises(refused, self.claim, 1, beside=[])
        self.assertTrue(self.claim(1, beside=[self.nodes[0]]))
        self.assertEqual(self.both, self.on(self.instance.uuid))

    def test_release(self):
        self.claim(1)
        self.placement.release(self.admin, self.instance.uuid, {self.nodes[1]})
        self.assertEqual(self.first, self.on(self.instance.uuid))
        # Also where a provider below the node is named.
        self.placement.release(self.admin, self.instance.uuid, {self.bridges[0]})
        self.assertEqual(set(), self.on(self.instance.uuid))

    def test_delete_but(self):
        self.claim(1)
        for changed in (True, False):
            self.assertEqual(
                changed,
                self.placement.delete_allocations(
                    self.admin, self.instance.uuid, keep=[self.nodes[0]]
                ),
            )
            self.assertEqual(self.first, self.on(self.instance.uuid))

    def test_move_there_and_back(self):
        self.claim(1)
        kept = {'keep': [self.nodes[0]]}
        self.placement.move_allocations(self.admin, self.instance.uuid, self.migration, **kept)
        self.assertEqual(self.first, self.on(self.instance.uuid))
        self.assertEqual(self.both - self.first, self.on(self.migration))
        self.placement.move_allocations(self.admin, self.migration, self.instance.uuid, **kept)
        self.assertEqual(self.both, self.on(self.instance.uuid))
