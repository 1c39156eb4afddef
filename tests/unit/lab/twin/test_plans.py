"""Plans of moves: their commands, their times, and servers that cannot move."""

import math
import types

import testtools

from nova_lite.api import server_access
from nova_lite.lab.maintenance import plan
from nova_lite.lab.twin import command
from nova_lite.lab.twin import copying
from nova_lite.lab.twin import departures
from nova_lite.lab.twin import model
from nova_lite.lab.twin import moves
from nova_lite.objects import flavor
from nova_lite.objects import request_spec
from nova_lite.virt.sim import profile

How = plan.How
UUID = '6f1ee7b0-6a52-4f0e-a6cf-0a8c1bd0e2a1'
SIZES = {
    'id': 1, 'flavorid': '1', 'name': 'f', 'vcpus': 1, 'memory_mb': 10_000, 'root_gb': 0,
    'ephemeral_gb': 0, 'swap': 0, 'rxtx_factor': 1.0, 'disabled': False, 'is_public': True,
    'description': None, 'extra_specs': {},
}  # fmt: skip


def server(name='web', vm_state='active', *, has_shares=False, specs=(), **changes):
    """Return a Server. specs: extra specs of its flavor; changes: of sizes, or of its record"""
    sizes = SIZES | {key: value for key, value in changes.items() if key in SIZES}
    sizes['extra_specs'] = dict(specs)
    values = {
        'uuid': UUID, 'display_name': name, 'metadata': {}, 'host': 'a', 'memory_mb': 10_000,
        'vm_state': vm_state, 'task_state': None, 'launched_at': 'now', 'power_state': 1,
        'flavor': sizes, 'image_properties': {}, **changes,
    }  # fmt: skip
    row = types.SimpleNamespace(**values)
    spec = request_spec.RequestSpec(
        instance_uuid=UUID, project_id='p', user_id='u', flavor=flavor.Flavor(**sizes)
    )
    of_api = server_access.Server(row, mapping=None)
    refused = departures.refusals(of_api, has_shares=has_shares)
    return departures.Server(row, UUID, spec, refused)


class CommandsTest(testtools.TestCase):
    def test_names_are_not_trusted(self):
        (line,) = moves.Move(server('$(reboot) -x'), How.LIVE, 'b').commands()
        self.assertEndsWith(line, f'--live-migration --host b --wait {UUID}')

    def assertEndsWith(self, text, end):
        self.assertEqual(end, text[-len(end) :])

    def test_servers_of_a_twin_have_the_ids_of_the_cloud(self):
        other = UUID.replace('6', '7')
        (line,) = moves.Move(server(other), How.LIVE, 'b c').commands()
        self.assertEndsWith(line, f"--host 'b c' --wait {other}")

    def test_cold_moves_are_confirmed(self):
        first, second = moves.Move(server(vm_state='stopped'), How.COLD, 'b').commands()
        self.assertNotIn('--live-migration', first)
        self.assertEndsWith(second, f'server resize confirm {UUID}')


class WaysTest(testtools.TestCase):
    """The ways are those that the API and the moves accept."""

    def ways(self, *given, **options):
        found = server(*given, **options)
        return found.ways, found.reason, How.EVACUATE in found.refusals

    def test_by_states(self):
        for state, ways, lost in (
            ('active', [How.LIVE, How.COLD], False),
            ('paused', [How.LIVE], True),
            ('stopped', [How.COLD], False),
            ('error', [], False),
            ('rescued', [], True),
        ):
            found, reason, stays = self.ways(vm_state=state)
            self.assertEqual((ways, lost), (found, stays), state)
            self.assertEqual(ways == [], bool(reason), (state, reason))
        found, reason, _stays = self.ways(task_state='migrating')
        self.assertEqual([], found)
        self.assertIn('migrating', reason)
        self.assertEqual([How.COLD], self.ways(power_state=4)[0])

    def test_by_what_guests_have(self):
        private = {'hw:tpm_version': '2.0'}
        kept = {**private, 'hw:tpm_secret_security': 'deployment'}
        device = {'name': 'gpu', 'count': 1, 'specs': [{'vendor_id': '10de', 'product_id': '1'}]}
        for options, ways, text, lost in (
            ({'specs': {'hw:mem_encryption': 'true'}}, [How.COLD], 'mem encryption', False),
            ({'image_properties': {'hw_mem_encryption': True}}, [How.COLD], 'encryption', False),
            ({'specs': private}, [How.COLD], 'vTPM', True),
            ({'specs': kept}, [How.LIVE, How.COLD], '', True),
            ({'flavor': {**SIZES, 'devices': [device]}}, [How.COLD], 'PCI', False),
            ({'has_shares': True}, [], 'has shares', True),
        ):
            found, reason, stays = self.ways(**options)
            self.assertEqual((ways, lost), (found, stays), options)
            self.assertIn(text, reason)
            self.assertEqual(bool(text), bool(reason))

    def test_no_other_way_for_a_paused_guest(self):
        found, reason, _stays = self.ways(vm_state='paused', specs={'hw:mem_encryption': 'true'})
        self.assertEqual([], found)
        self.assertIn('mem encryption', reason)


class CopiesTest(testtools.TestCase):
    def test_services_outside(self):
        """A copy would write in them."""
        model.require_own(['filter_scheduler', 'compute'])
        error = self.assertRaises(model.UsesOthers, model.require_own, ['placement', 'neutron'])
        self.assertIn('([neutron], [placement])', str(error))


class TimesTest(testtools.TestCase):
    def seconds(self, found, **rates):
        how = found.ways[0]
        return copying.seconds(
            profile.load('default'), found, how, to='b', rates=copying.Rates(**rates)
        )

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
        # A cold migration waits for no copy of a running server.
        self.assertEqual(4.0, copying.together([('a', 4.0), (None, 3.0)], 2, 1))
        self.assertEqual(0.0, copying.together([], 4, 1))
