"""Releases that are late, and what protects the claims that follow them: real placement."""

from nova_lite import exception
from tests.unit.clients import base


class LateReleaseTest(base.PlacementTestCase):
    """Another process has released and claimed before the request arrives."""

    def setUp(self):
        super().setUp()
        self.host, self.consumer = self.add_host('host'), base.consumer()
        self.claim()

    def claim(self):
        request = base.request(self.host)
        self.assertTrue(self.placement.claim(self.admin, self.consumer, request, new=True))

    def generation(self):
        return self.placement.holding(self.admin, self.consumer.uuid).generation

    def release_late(self, successor):
        """Release what was read before `successor` (a callable) ran."""
        calls = []

        def is_overtaken():
            calls.append(1)
            if len(calls) == 1:
                successor()
            return len(calls) > 1

        return self.placement.release(self.admin, self.consumer.uuid, None, unless=is_overtaken)

    def succeed(self):
        self.placement.release(self.admin, self.consumer.uuid, None)
        self.claim()

    def test_a_claim_whose_generation_is_raised_stays(self):
        def successor():
            self.succeed()
            self.placement.advance(self.admin, self.consumer.uuid, 3)

        self.assertFalse(self.release_late(successor))
        self.assertEqual(3, self.generation())
        held = self.placement.holding(self.admin, self.consumer.uuid)
        self.assertEqual([self.host], list(held.allocations))

    def test_a_forgotten_consumer_begins_at_the_same_generation(self):
        """Given placement as it is, a new claim is taken for the former: hence `advance`."""
        self.assertTrue(self.release_late(self.succeed))
        self.assertIsNone(self.generation())

    def test_raising_keeps_what_is_held_and_counts_once(self):
        for _ in range(2):
            self.placement.advance(self.admin, self.consumer.uuid, 4)
            self.assertEqual(4, self.generation())
        _, requests = self.count_requests(self.placement.advance, self.admin, self.consumer.uuid, 2)
        self.assertEqual([('GET', f'/placement/allocations/{self.consumer.uuid}')], requests)

    def test_raising_the_generation_of_nothing_is_a_conflict(self):
        self.placement.release(self.admin, self.consumer.uuid, None)
        self.assertRaises(
            exception.AllocationConflict,
            self.placement.advance,
            self.admin,
            self.consumer.uuid,
            2,
        )
