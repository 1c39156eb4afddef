"""The power of whole hosts: what runs on a host that is fenced, and after it came back."""

from nova_lite import exception
from nova_lite import states
from nova_lite.virt.sim import census
from nova_lite.virt.sim import hostpower
from tests.unit.virt.sim import base

Power = states.PowerState
# A copy that takes longer than the test needs.
COPY = 'extends: instant\nhosts: [{live_migration: {bandwidth_mb_s: 256}}]'


class HostPowerTests(base.SimTestCase):
    def test_a_fenced_host_runs_nothing(self):
        made = self.hosts(COPY)
        made.spawn('n1', base.guest_spec(), key='k')
        made.spawn('n2', base.guest_spec('g2'), key='k')
        ticket = {'guest': base.GUEST, 'move': base.MOVE, 'id': 't'}
        copy = made.live_migrate('n1', base.GUEST, base.MOVE, key='l', ticket=ticket)
        hostpower.power_off(self.path('a'), 'n1')
        self.assertEqual({'n2'}, made.up_nodes())
        self.assertEqual({'g2': 'n2'}, self.running())
        self.assertFailed('HypervisorUnavailable', made.poll(copy.id))
        self.assertRaises(exception.Unavailable, made.spawn, 'n1', base.guest_spec('g3'), key='k')
        other = self.hosts(name='b')
        self.assertDone(other.spawn('n1', base.guest_spec(), key='evacuate'))
        self.clock.advance(5)
        hostpower.power_on(self.path('a'), 'n1')
        self.assertEqual({'n1', 'n2'}, made.up_nodes())
        self.assertEqual(5, made.get_facts('n1').booted_at - made.get_facts('n2').booted_at)
        self.assertEqual(2, len(self.running()))
        self.assertEqual(Power.SHUTDOWN, made.get_guest('n1', base.GUEST).power_state)

    def test_what_does_not_exist(self):
        for ask in (lambda path: hostpower.power_off(path, 'n1'), census.guests):
            self.assertRaises(FileNotFoundError, ask, self.path('none'))
