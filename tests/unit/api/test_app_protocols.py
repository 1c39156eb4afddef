"""The API's clients and their doubles, compared by mypy with what handlers work with."""

import testtools

from nova_lite.api import app
from nova_lite.api import protocols
from nova_lite.clients import identity
from nova_lite.daemons import neighbours
from nova_lite.rpcapi import super_conductor
from tests.fixtures import api_neighbours


def apps(real: app.App) -> list[protocols.App]:
    return [real]


def clients(real: neighbours.Neighbours) -> list[protocols.Clients]:
    return [real]


def identities(real: identity.Identity) -> list[protocols.Identity]:
    return [real]


def super_conductors(real: super_conductor.SuperConductorAPI) -> list[protocols.SuperConductor]:
    return [real]


def images() -> list[protocols.Image]:
    return [api_neighbours.Image()]


def networks() -> list[protocols.Network]:
    return [api_neighbours.Network()]


def volumes() -> list[protocols.Volume]:
    return [api_neighbours.Volume()]


def placements() -> list[protocols.Placement]:
    return [api_neighbours.Placement()]


class AppProtocolsTest(testtools.TestCase):
    def test_doubles_answer(self):
        """Given doubles that mypy accepts, when the API asks, then each knows what it has."""
        for image in images():
            self.assertEqual('active', image.get(None, api_neighbours.IMAGE_ID)['status'])
        for network in networks():
            self.assertEqual(['g0'], network.security_groups.validate(None, ['default']))
            self.assertFalse(network.has_resource_request(None, 'server'))
        for volume in volumes():
            found = volume.get(None, api_neighbours.VOLUME_ID)
            volume.check_attachable(found, instance_uuid=None, availability_zone=None)
            self.assertTrue(volume.serves(found, 'nova'))
        for placement in placements():
            self.assertIsNone(placement.providers.find_by_name(None, 'host-1'))
