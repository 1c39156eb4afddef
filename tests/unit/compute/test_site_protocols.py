"""The clients and their doubles, compared by mypy with the protocols of a compute's site."""

import testtools

from nova_lite import exception
from nova_lite.clients import neighbours as neighbour_clients
from nova_lite.clients import placement
from nova_lite.clients import release
from nova_lite.compute import site
from tests.fixtures import neighbours
from tests.unit.superconductor import build_base


def placements(real: placement.Placement) -> list[site.Placement]:
    return [real, neighbours.Placement()]


def clients(real: neighbour_clients.Neighbours) -> list[site.Neighbours]:
    return [real]


def networks() -> list[site.Network]:
    return [neighbours.Network()]


def volumes() -> list[site.Volume]:
    return [neighbours.Volume()]


def images() -> list[site.Image]:
    return [neighbours.Image()]


def allocations() -> list[release.Allocations]:
    return [build_base.Placement()]


class SiteProtocolsTest(testtools.TestCase):
    def test_doubles_give_up_allocations(self):
        """Given doubles that mypy accepts, when a compute gives up, then all take its arguments."""
        for double in (neighbours.Placement(), *allocations()):
            double.delete_allocations(None, 'consumer', force=True, keep=())
            double.release(None, 'consumer', {'provider'}, unless=lambda: False)

    def test_doubles_of_the_other_services(self):
        """Given doubles that mypy accepts, then all take the arguments of a compute."""
        for network in networks():
            self.assertEqual([], network.allocate(None, None, [], host='host-1', groups=()))
            network.deallocate(None, 'server', ())
        for volume in volumes():
            made = volume.create(None, size=1, name='root', image_id='image')
            held = volume.create_attachment(None, made['id'], 'server', connector=None)
            volume.update_attachment(None, held['id'], {'host': 'host-1'}, mountpoint='/dev/vda')
            volume.complete_attachment(None, held['id'])
            self.assertEqual(held['id'], volume.get_attachment(None, held['id'])['id'])
        for image in images():
            self.assertRaises(exception.ImageNotFound, image.get, None, 'image')
            image.delete(None, 'image', missing_ok=True)
