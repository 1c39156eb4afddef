"""The clients and their doubles, compared by mypy with the protocols of a compute's site."""

import testtools

from nova_lite.clients import placement
from nova_lite.compute import site
from tests.fixtures import neighbours
from tests.unit.superconductor import build_base


def placements(real: placement.Placement) -> list[site.Placement]:
    return [real, neighbours.Placement()]


def allocations() -> list[site.Allocations]:
    return [build_base.Placement()]


class SiteProtocolsTest(testtools.TestCase):
    def test_doubles_give_up_allocations(self):
        """Given doubles that mypy accepts, when a compute gives up, then all take its arguments."""
        for double in (neighbours.Placement(), *allocations()):
            double.delete_allocations(None, 'consumer', force=True, keep=())
            double.release(None, 'consumer', {'provider'}, unless=lambda: False)
