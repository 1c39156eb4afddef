"""The doubles of clients, compared with the clients."""

import testtools

from nova_lite.clients import group_names
from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.clients import providers
from nova_lite.clients import security_groups
from nova_lite.clients import share
from nova_lite.clients import volume
from nova_lite.rpc.methods import scheduler
from tests.fixtures import api_neighbours
from tests.fixtures import neighbours
from tests.fixtures import provider_records
from tests.fixtures import shares
from tests.fixtures import signatures
from tests.unit.moves import moves_base
from tests.unit.superconductor import build_base


class DoublesTest(testtools.TestCase):
    def test_doubles_take_what_clients_take(self):
        """Given a double and its client, then their methods take the same arguments."""
        for double, real in (
            (api_neighbours.Image, image.Image),
            (api_neighbours.Network, network.Network),
            (api_neighbours.SecurityGroups, security_groups.SecurityGroups),
            (api_neighbours.SecurityGroups, group_names.GroupNames),
            (api_neighbours.Volume, volume.Volume),
            (api_neighbours.Placement, placement.Placement),
            (api_neighbours.Placement, providers.Providers),
            (neighbours.Image, image.Image),
            (neighbours.Network, network.Network),
            (neighbours.Placement, placement.Placement),
            (build_base.Placement, placement.Placement),
            (build_base.Scheduler, scheduler.SchedulerAPI),
            (moves_base.Placement, placement.Placement),
            (provider_records.Providers, providers.Providers),
            (neighbours.Volume, volume.Volume),
            (shares.Shares, share.Share),
        ):
            with self.subTest(double=double.__name__, real=real.__name__):
                self.assertEqual([], signatures.differences(double, real))

    def test_differences_are_found(self):
        """Given a double that takes other arguments, then each difference is reported."""

        class Double:
            def get(self, ctxt, image_id, *, unknown=None):
                """A parameter too much."""

            def delete(self, ctxt):
                """A parameter too few."""

        self.assertEqual(
            [
                'Double.delete: image_id is missing',
                'Double.get: unknown is no parameter of the class',
            ],
            signatures.differences(Double, image.Image),
        )
