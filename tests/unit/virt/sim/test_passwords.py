"""Passwords in guests: they stay while the guest does, also when it moves."""

from nova_lite.virt import model
from nova_lite.virt.sim import passwords
from tests.unit.virt.sim import base
from tests.unit.virt.sim import test_moves

SECRET = 'open sesame'


class PasswordTests(test_moves.LiveMoveTestCase):
    def set(self, made, key='password'):
        return made.set_admin_password('n1', base.GUEST, SECRET, key=key)

    def check(self, made):
        kept = made.get_guest('n1', base.GUEST).spec.password
        self.assertTrue(passwords.matches(kept, SECRET))
        self.assertFalse(passwords.matches(kept, SECRET.upper()))

    def test_stays_over_a_reboot(self):
        self.source.spawn('n1', base.guest_spec(), key='k')
        self.assertEqual('', self.source.get_guest('n1', base.GUEST).spec.password)
        self.assertFalse(passwords.matches('', SECRET))
        self.assertDone(self.set(self.source))
        action, spec = model.PowerAction.HARD_REBOOT, base.guest_spec()
        self.assertDone(self.source.change_power('n1', base.GUEST, action, key='k', spec=spec))
        self.check(self.source)

    def test_of_a_guest_that_is_off(self):
        self.source.spawn('n1', base.guest_spec(), key='k', power_on=False)
        self.assertFailed('InstanceInvalidState', self.set(self.source))

    def test_moves_cold(self):
        self.source.spawn('n1', base.guest_spec(), key='k')
        self.assertDone(self.set(self.source))
        job = self.source.migrate_out('n1', base.GUEST, base.MOVE, key='m')
        given = self.assertDone(job)['handover']
        self.assertNotIn(SECRET, str(given))
        bigger = base.guest_spec(memory_mb=8192)
        self.assertDone(self.dest.finish_migration('n1', bigger, given, key='m', power_on=True))
        self.check(self.dest)

    def test_moves_live(self):
        self.prepare()
        spec = base.guest_spec()
        self.source.spawn('n1', spec, key='k')
        self.assertDone(self.set(self.source))
        ready = self.dest.pre_live_migration('n1', spec, base.MOVE, key='p')
        ticket = self.assertDone(ready)['ticket']
        copy = self.source.live_migrate('n1', base.GUEST, base.MOVE, key='l', ticket=ticket)
        self.assertDone(self.arrive(self.assertDone(copy)['handover']))
        self.check(self.dest)
