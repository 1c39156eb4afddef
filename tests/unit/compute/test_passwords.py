"""Passwords in guests: where they can be set, and what is left when that fails."""

import testtools

from nova_lite import exception
from nova_lite.virt import model
from nova_lite.virt.sim import passwords
from nova_lite.virt.sim import profile
from tests.fixtures import cell

SECRET = 'open sesame'
EVENT = 'compute_set_admin_password'


class Base(testtools.TestCase):
    text = 'extends: instant'

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell.Cell(hosts=('host-1',), profile=profile.parse(self.text)))
        self.uuid = self.cell.boot()

    def check(self, has_agent=False):
        ctxt = self.cell.ask(self.uuid, 'changePassword', None)
        self.cell.compute.check_set_admin_password(ctxt, 'host-1', self.uuid, has_agent)

    def ask(self):
        return self.cell.ask(self.uuid, 'changePassword', 'updating_password')

    def change(self):
        ctxt = self.ask()
        self.cell.compute.set_admin_password(ctxt, 'host-1', self.cell.instance(self.uuid), SECRET)

    def kept(self):
        return self.cell.driver.get_guest('host-1', self.uuid).spec.password


class TestPasswords(Base):
    def test_set(self):
        self.check()
        self.change()
        self.assertTrue(passwords.matches(self.kept(), SECRET))
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn((EVENT, 'host-1', 'Success'), self.cell.events(self.uuid))

    def test_a_guest_that_does_not_run(self):
        self.cell.driver.change_power('host-1', self.uuid, model.PowerAction.PAUSE, key='pause')
        error = self.assertRaises(exception.PasswordSetFailed, self.check)
        self.assertIn('not running', error.message)

    def test_a_change_that_a_restart_interrupts(self):
        self.ask()
        self.cell.kill()
        self.cell.compute._resume.run(0)
        self.assertEqual(('active', None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn((EVENT, 'host-1', 'Error'), self.cell.events(self.uuid))
        self.assertIn('was interrupted', self.cell.fault(self.uuid))
        self.assertEqual('', self.kept())


class TestFailure(Base):
    text = 'extends: instant\nfailures: [{verb: set_password, first: 1, message: no way}]'

    def test_fails_and_leaves_an_error(self):
        self.change()
        self.assertEqual(('error', None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn('no way', self.cell.fault(self.uuid))
        self.assertEqual('', self.kept())


class TestAgent(Base):
    text = 'extends: instant\nhosts: [{passwords: agent}]'

    def test_asked_for(self):
        self.assertRaises(exception.GuestAgentNotEnabled, self.check)
        self.check(has_agent=True)


class TestNever(Base):
    text = 'extends: instant\nhosts: [{passwords: never}]'

    def test_not_implemented(self):
        self.assertRaises(exception.NotImplementedHere, self.check, has_agent=True)
