"""Reboots and rescues of guests that others have changed, or whose image is gone."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.virt.sim import profile
from tests.fixtures import clock
from tests.unit.compute import test_power
from tests.unit.compute import test_resume

RUNNING = test_power.RUNNING


AWAY = exception.Unavailable(service='image', reason='test')


class TestSoftReboot(test_power.Base):
    """Of a guest that is off: after os-resetState the record says that its server is active."""

    def setUp(self):
        super().setUp()
        self.act('stop')
        self.cell.db.write(instances.force, self.uuid, {'vm_state': 'active'})

    def test_becomes_a_hard_one(self):
        self.act('reboot_soft')
        self.check('reboot_soft')
        self.assertEqual({self.uuid: [('host-1', 'resident', RUNNING)]}, self.cell.guests())

    def test_reply_to_that_is_lost(self):
        ctxt = self.ask('reboot_soft')
        started, self.calls = self.cell.conductor.action_started, []

        def lose(*args, **kwargs):
            self.calls.append(started(*args, **kwargs))
            if len(self.calls) == 2:
                raise exception.Unavailable(service='conductor', reason='test')
            return self.calls[-1]

        lose.__name__ = 'action_started'
        self.cell.conductor.action_started = lose
        self.send('reboot_soft', ctxt)
        self.cell.run_dry()
        self.check('reboot_soft')
        self.assertEqual(3, len(self.calls))


class TestKilledReboot(test_resume.Base):
    """The process is killed in a soft reboot that has become a hard one."""

    def test_is_not_done_twice(self):
        uuid = self.cell.boot()
        ctxt = self.cell.ask(uuid, 'stop', 'powering-off')
        self.cell.compute.stop_instance(ctxt, 'host-1', self.cell.instance(uuid))
        self.cell.db.write(instances.force, uuid, {'vm_state': 'active'})
        ctxt = self.cell.ask(uuid, 'reboot', 'rebooting')
        self.die_at('conductor', 'action_finished', after=False)
        self.assertRaises(
            test_resume.Killed,
            self.cell.compute.reboot_instance,
            ctxt,
            'host-1',
            self.cell.instance(uuid),
            'SOFT',
        )
        booted = self.started_at(uuid)
        self.restart()
        self.assertEqual(('active', None, 'host-1'), self.cell.state(uuid))
        self.assertEqual(booted, self.started_at(uuid))

    def started_at(self, uuid):
        return self.cell.driver.get_guest('host-1', uuid).started_at


class TestRescue(test_power.Base):
    def test_resumed_with_its_image(self):
        self.ask('rescue')
        self.cell.image.add_image('the-image', status='active')
        self.cell.db.write(
            instances.update, self.uuid, {'system_metadata': {'rescue_image_ref': 'the-image'}}
        )
        self.cell.kill()
        self.cell.compute._resume.run(0)
        self.check('rescue')
        self.assertIn('the-image', self.cell.driver.get_console_output('host-1', self.uuid))

    def test_with_a_deleted_image(self):
        """As in nova: the host has to download the image of the server, which stays active."""
        self.cell.db.write(instances.update, self.uuid, {'image_ref': 'deleted'})
        ctxt = self.ask('rescue')
        self.cell.compute.rescue_instance(ctxt, 'host-1', self.cell.instance(self.uuid), None)
        row = self.cell.row(self.uuid)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))
        self.assertEqual({self.uuid: [('host-1', 'resident', RUNNING)]}, self.cell.guests())
        self.assertIn(('compute_rescue_instance', 'host-1', 'Error'), self.cell.events(self.uuid))

    def test_unanswered_read_of_the_image(self):
        """The read is repeated."""
        ctxt = self.ask('rescue')
        self.cell.image.fail('get', AWAY, times=1)
        self.send('rescue', ctxt)
        self.cell.run_dry()
        self.check('rescue')


class KilledRescue(testscenarios.WithScenarios, test_resume.Base):
    """The process is killed, and the image cannot be read when the rescue is resumed."""

    scenarios = [
        ('away', {'spoil': lambda image: image.fail('get', AWAY, times=9)}),
        ('deleted', {'spoil': lambda image: image.images.pop('image')}),
    ]

    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()
        self.uuid = self.cell.boot()
        self.cell.image.add_image('image', status='active')
        noted = {'system_metadata': {'rescue_image_ref': 'image'}}
        self.cell.db.write(instances.update, self.uuid, noted)

    def rescue(self):
        ctxt = self.cell.ask(self.uuid, 'rescue', 'rescuing')
        instance = self.cell.instance(self.uuid)
        self.cell.compute.rescue_instance(ctxt, 'host-1', instance, 'image')

    def resume(self):
        self.spoil(self.cell.image)
        self.restart()
        self.clock.advance(10)
        self.cell.run_dry()
        self.assertTrue(self.cell.driver.get_guest('host-1', self.uuid).rescued)
        self.assertEqual(('rescued', None, 'host-1'), self.cell.state(self.uuid))


class TestRescueKilledAtItsEnd(KilledRescue):
    def test_ends_well(self):
        self.die_at('conductor', 'action_finished', after=False)
        self.assertRaises(test_resume.Killed, self.rescue)
        self.resume()


class TestRescueKilledInItsJob(KilledRescue):
    profile = profile.parse('extends: instant\nhosts:\n  - {delays: {rescue: 10}}\n')

    def test_ends_well(self):
        self.rescue()
        self.assertEqual('rescuing', self.cell.state(self.uuid)[1])
        self.resume()
