"""Releases that are late, and what protects the claims that follow them: real placement."""

from nova_lite import exception
from tests.unit.clients import base


class LateReleaseTest(base.PlacementTestCase):
    """Another process has released and claimed before the request arrives."""

    def setUp(self):
        super().setUp()
        self.host, self.consumer = self.add_host('host'), base.consumer()
        self.claim(self.host)

    def claim(self, host):
        request = base.request(host)
        self.assertTrue(self.placement.claim(self.admin, self.consumer, request, new=True))

    def succeed(self, host=None, generation=1):
        self.placement.release(self.admin, self.consumer.uuid, None)
        self.claim(host or self.host)
        self.advance(generation, host)

    def advance(self, generation, host=None):
        claims = [(self.consumer, base.request(host or self.host))]
        self.placement.advance(self.admin, claims, generation)

    def held(self):
        found = self.placement.holding(self.admin, self.consumer.uuid)
        return list(found.allocations), found.generation

    def release_late(self, successor):
        """Release what was read before `successor` (a callable) ran."""
        calls = []

        def is_overtaken():
            calls.append(1)
            if len(calls) == 1:
                successor()
            return len(calls) > 1

        return self.placement.release(self.admin, self.consumer.uuid, None, unless=is_overtaken)

    def late(self, successor):
        """Run `successor` (a callable) before the next change of allocations arrives."""
        write = self.placement.write

        def later(*args):
            self.placement.write = write
            successor()
            return write(*args)

        self.placement.write = later

    def test_a_claim_whose_generation_is_raised_stays(self):
        self.assertFalse(self.release_late(lambda: self.succeed(generation=3)))
        self.assertEqual(([self.host], 3), self.held())

    def test_a_forgotten_consumer_begins_at_the_same_generation(self):
        """Given placement as it is, a new claim is taken for the former: hence `advance`."""
        self.assertTrue(self.release_late(self.succeed))
        self.assertEqual(([], None), self.held())

    def test_a_raise_that_is_late_meets_a_claim_that_was_raised(self):
        other = self.add_host('other')
        self.late(lambda: self.succeed(other, generation=3))
        self.assertRaises(exception.AllocationConflict, self.advance, 2)
        self.assertEqual(([other], 3), self.held())

    def test_a_raise_that_is_late_meets_a_claim_that_is_new(self):
        """The successor is refused, not misled: it starts over."""
        other = self.add_host('other')
        self.late(lambda: self.succeed(other))
        self.advance(2)
        self.assertRaises(exception.AllocationConflict, self.advance, 3, other)

    def test_several_at_once(self):
        claims = [(self.consumer, base.request(self.host))]
        for _ in range(2):
            claims.append((base.consumer(), base.request(self.host)))
            self.assertTrue(self.placement.claim(self.admin, *claims[-1], new=True))
        _, requests = self.count_requests(self.placement.advance, self.admin, claims, 4)
        self.assertEqual([('POST', '/placement/allocations')] * 3, requests)
        found = [self.placement.holding(self.admin, each.uuid) for each, _request in claims]
        self.assertEqual([(1, 4)] * 3, [(len(each.allocations), each.generation) for each in found])

    def test_a_raise_of_nothing_is_a_conflict(self):
        self.placement.release(self.admin, self.consumer.uuid, None)
        self.assertRaises(exception.AllocationConflict, self.advance, 2)
        self.assertEqual(([], None), self.held())
