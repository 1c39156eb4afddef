"""Offers of placement, in the shapes that mypy accepts."""

import testtools

from nova_lite.clients import offers
from nova_lite.scheduler import candidates


class OfferTest(testtools.TestCase):
    def test_shapes(self) -> None:
        """Given an offer that mypy accepts, then the scheduler finds its parts by provider."""
        request: offers.AllocationRequest = {'allocations': {'node': {'resources': {'VCPU': 2}}}}
        summary: offers.Summary = {'resources': {'VCPU': {'capacity': 4, 'used': 1}}}
        offer: offers.Offer = {
            'allocation_requests': [request],
            'provider_summaries': {'node': summary},
        }
        found = candidates.Candidates(offer)
        self.assertEqual([request], list(found.of('node')))
        self.assertTrue(found.take(request))
        self.assertFalse(found.take(request))
