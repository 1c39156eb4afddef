"""The clients and their doubles, compared by mypy with what moves and builds work with."""

import types

import testtools

from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.clients import release
from nova_lite.clients import volume
from nova_lite.conductor import reschedule
from nova_lite.moves import world
from nova_lite.rpcapi import scheduler
from nova_lite.superconductor import manager
from tests.fixtures import neighbours
from tests.unit.moves import moves_base
from tests.unit.superconductor import build_base


def worlds(real: manager.World, double: moves_base.World) -> list[world.World]:
    return [real, double]


def networks(real: network.Network) -> list[world.Network]:
    return [real]


def images(real: image.Image) -> list[world.Image]:
    return [real]


def volumes(real: volume.Volume) -> list[world.Volume]:
    return [real, neighbours.Volume()]


def placements(real: placement.Placement) -> list[world.Placement]:
    return [real, moves_base.Placement()]


def claims(real: placement.Placement) -> list[reschedule.Placement]:
    return [real, neighbours.Placement()]


def schedulers(real: scheduler.SchedulerAPI, double: build_base.Scheduler) -> list[world.Scheduler]:
    return [real, double]


def ports() -> list[world.Ports]:
    return [neighbours.Network()]


def attempts() -> list[world.Claims]:
    return [build_base.Placement()]


def released() -> list[release.Image]:
    return [neighbours.Image()]


class WorldProtocolsTest(testtools.TestCase):
    def test_doubles_take_back_ports(self):
        """Given a port that was attached, when it is taken back, then none is left."""
        for double in ports():
            server = types.SimpleNamespace(uuid='server')
            made = double.attach(None, server, {}, host='host-1', known=())
            double.undo_attach(None, 'server', {}, known=())
            double.release_from(None, 'server', [made])
            double.deallocate(None, 'server', [made])
            self.assertEqual({}, double.ports)

    def test_doubles_give_up_allocations(self):
        """Given doubles that hold nothing, when builds give up, then all take the arguments."""
        for double in (neighbours.Placement(), build_base.Placement()):
            self.assertEqual({}, double.holding(None, 'consumer').allocations)
            double.release(None, 'consumer', {'provider'})
            double.delete_allocations(None, 'consumer', force=True, keep=())

    def test_doubles_raise_generations(self):
        """Given doubles, when builds tell their claims apart, then all take the arguments."""
        for double in attempts():
            consumer = placement.Consumer('consumer', 'project', 'user')
            double.advance(None, [(consumer, {'allocations': {}})], 2)
            self.assertEqual([('consumer', 2)], double.advanced)

    def test_doubles_delete_images(self):
        """Given an image that is gone, when it is deleted again, then that is no error."""
        for double in released():
            double.delete(None, 'image', missing_ok=True)
            self.assertEqual([], double.list(None, image_type='snapshot'))
