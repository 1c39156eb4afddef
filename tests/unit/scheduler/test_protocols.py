"""The clients, compared by mypy with what the scheduler asks of other services."""

import testtools

from nova_lite.clients import network
from nova_lite.clients import offers
from nova_lite.clients import placement
from nova_lite.scheduler import candidates
from nova_lite.scheduler import protocols


def placements(real: placement.Placement) -> list[protocols.Placement]:
    return [real]


def networks(real: network.Network) -> list[protocols.Network]:
    return [real]


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
