"""Plans of moves: their commands, their times, and servers that cannot move."""

import math

import testtools

from nova_lite.lab.twin import command
from nova_lite.lab.twin import copying
from nova_lite.lab.twin import model
from nova_lite.lab.twin import moves
from nova_lite.objects import flavor
from nova_lite.objects import request_spec
from nova_lite.virt.sim import profile

UUID = '6f1ee7b0-6a52-4f0e-a6cf-0a8c1bd0e2a1'
SIZES = {
    'id': 1, 'flavorid': '1', 'name': 'f', 'vcpus': 1, 'memory_mb': 10_000, 'root_gb': 0,
    'ephemeral_gb': 0, 'swap': 0, 'rxtx_factor': 1.0, 'disabled': False, 'is_public': True,
    'description': None, 'extra_specs': {},
}  # fmt: skip


def server(name='web', vm_state='active', **sizes):
    spec = request_spec.RequestSpec(
        instance_uuid=UUID, project_id='p', user_id='u', flavor=flavor.Flavor(**SIZES | sizes)
    )
    return model.Server(
        uuid=UUID, name=name, label=name, cell_uuid=UUID, host='a', spec=spec, memory_mb=10_000,
        vm_state=vm_state,
    )  # fmt: skip


class CommandsTest(testtools.TestCase):
    def test_names_are_not_trusted(self):
        (line,) = moves.Move(server('$(reboot) -x'), 'b', 1.0).commands()
        self.assertEndsWith(line, f'--live-migration --host b --wait {UUID}')

    def assertEndsWith(self, text, end):
        self.assertEqual(end, text[-len(end) :])

    def test_servers_of_a_twin_have_the_ids_of_the_cloud(self):
        other = UUID.replace('6', '7')
        (line,) = moves.Move(server(other), 'b c', 1.0).commands()
        self.assertEndsWith(line, f"--host 'b c' --wait {other}")

    def test_cold_moves_are_confirmed(self):
        first, second = moves.Move(server(vm_state='stopped'), 'b', 1.0).commands()
        self.assertNotIn('--live-migration', first)
        self.assertEndsWith(second, f'server resize confirm {UUID}')

    def test_how(self):
        hows = {state: server(vm_state=state).how for state in ('paused', 'rescued', 'resized')}
        self.assertEqual({'paused': 'live', 'rescued': 'stays', 'resized': 'stays'}, hows)


class CopiesTest(testtools.TestCase):
    def test_services_outside(self):
        """A copy would write in them."""
        model.require_own(['filter_scheduler', 'compute'])
        error = self.assertRaises(model.UsesOthers, model.require_own, ['placement', 'neutron'])
        self.assertIn('([neutron], [placement])', str(error))


class TimesTest(testtools.TestCase):
    def seconds(self, found, **rates):
        return copying.seconds(profile.load('default'), found, copying.Rates(**rates))

    def test_of_one(self):
        still = self.seconds(server(), bandwidth=1000.0, dirty=0.0)
        self.assertAlmostEqual(10.0 + copying.OVERHEAD_S, still, delta=0.5)
        busy = self.seconds(server(), bandwidth=1000.0, dirty=500.0)
        self.assertGreater(busy, still + 5)
        self.assertEqual(math.inf, self.seconds(server(), bandwidth=100.0, dirty=200.0))
        cold = self.seconds(server(vm_state='stopped', root_gb=100), bandwidth=100.0)
        self.assertGreater(cold, 10)

    def test_text(self):
        self.assertEqual('1 move, 4 at a time, takes 2.0 s', command._together(1, 4, 2.0))
        self.assertEqual('2 moves, 1 at a time, take 2.0 s', command._together(2, 1, 2.0))
        for count, text in ((1, '1 move, 4 at a time, does not'), (2, 'time, do not end: guests')):
            self.assertIn(text, command._together(count, 4, math.inf))

    def test_of_several(self):
        each = [('a', 4.0), ('a', 1.0), ('a', 2.0), ('a', 3.0)]
        self.assertEqual(6.0, copying.together(each, 2, 0))
        self.assertEqual(10.0, copying.together(each, 2, 1))
        self.assertEqual(4.0, copying.together([('a', 4.0), ('b', 3.0)], 2, 1))
        self.assertEqual(0.0, copying.together([], 4, 1))
