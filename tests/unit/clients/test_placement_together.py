"""Claims and releases of several consumers in one request."""

from nova_lite import exception
from tests.unit.clients import base


class ClaimAllTest(base.PlacementTestCase):
    """Claims of a batch in one request."""

    def claims(self, count):
        host = self.add_host('host')
        return [(base.consumer(), base.request(host)) for _ in range(count)]

    def holding(self, claims):
        return [bool(self.placement.holding(self.admin, consumer.uuid)) for consumer, _ in claims]

    def test_all(self):
        claims = self.claims(4)
        claimed, requests = self.count_requests(self.placement.claim_all, self.admin, claims)
        self.assertTrue(claimed)
        self.assertEqual([('POST', '/placement/allocations')], requests)
        self.assertEqual([True] * 4, self.holding(claims))

    def test_or_none(self):
        claims = self.claims(5)
        self.assertFalse(self.placement.claim_all(self.admin, claims))
        self.assertEqual([False] * 5, self.holding(claims))

    def test_twice_is_once(self):
        claims = self.claims(2)
        for _ in range(2):
            self.assertTrue(self.placement.claim_all(self.admin, claims))

    def test_one_of_them_holds_something_else(self):
        claims = self.claims(2)
        other = self.add_host('other')
        self.placement.claim(self.admin, claims[0][0], base.request(other), new=True)
        self.assertRaises(
            exception.AllocationConflict, self.placement.claim_all, self.admin, claims
        )
        self.assertEqual([True, False], self.holding(claims))


class ReleaseAllTest(base.PlacementTestCase):
    """Allocations of several servers that are deleted in one request."""

    def setUp(self):
        super().setUp()
        self.host = self.add_host('host')
        self.consumers = [base.consumer() for _ in range(3)]
        for consumer in self.consumers:
            self.placement.claim(self.admin, consumer, base.request(self.host), new=True)

    def release(self):
        return self.placement.release_all(self.admin, self.consumers)

    def holding(self):
        return [bool(self.placement.holding(self.admin, each.uuid)) for each in self.consumers]

    def test_all(self):
        released, requests = self.count_requests(self.release)
        self.assertTrue(released)
        self.assertEqual([('POST', '/placement/allocations')], requests)
        self.assertEqual([False] * 3, self.holding())
        self.assertFalse(self.release(), 'there are none')

    def test_none_if_one_has_moved(self):
        held = self.placement.holding(self.admin, self.consumers[1].uuid)
        other = {self.add_host('other'): base.request(self.host)['allocations'][self.host]}
        self.placement.replace(self.admin, self.consumers[1], other, held.generation)
        self.assertFalse(self.release())
        self.assertEqual([True] * 3, self.holding())
