"""Detachments from guests that their host has lost, and that a hard reboot makes again."""

import testscenarios

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.moves import detach_interface
from nova_lite.moves.parts import guest_devices
from nova_lite.saga import journal
from nova_lite.saga import step
from nova_lite.states import transitions
from nova_lite.virt import model
from tests.unit.moves import test_device_duties
from tests.unit.moves import test_device_sagas

HOST = test_device_sagas.HOST


class LostGuestTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    """The guest is as the records were when the reboot began: it has the device."""

    scenarios = [
        ('volume', {'name': 'detach_volume', 'task': None}),
        ('interface', {'name': 'detach_interface', 'task': None}),
        ('volume, later', {'name': 'detach_volume', 'task': 'rebooting_hard'}),
        ('interface, later', {'name': 'detach_interface', 'task': 'rebooting_hard'}),
    ]

    def test_does_not_keep_the_device(self):
        before = self.cell.driver.get_guest(HOST, self.server).spec
        detached = {'detach_volume': self.device.volume_id, 'detach_interface': self.vif['id']}
        self.cell.driver.destroy(HOST, self.server, key='lost')
        made = getattr(self, self.name)()
        *others, last = made.steps()
        self.do(made, others)
        if self.task:
            self.cell.db.write(instances.force, self.server, {'task_state': self.task})
            waits = last.do()
            self.assertIsInstance(waits, saga.Pending)
            self.assertIn(self.task, waits.detail)
            self.cell.db.write(instances.force, self.server, {'task_state': None})
        action = model.PowerAction.HARD_REBOOT
        self.cell.driver.change_power(HOST, self.server, action, key='reboot', spec=before)
        self.do(made, [last], times=2)
        plugged = {
            device.id for device in self.cell.driver.get_guest(HOST, self.server).spec.devices
        }
        self.assertEqual({*detached.values()} - {detached[self.name]}, plugged)


class LostLaterTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    """The guest is unplugged, then lost, and made again by a reboot that knew it before."""

    scenarios = [(name, {'name': name}) for name in ('detach_volume', 'detach_interface')]

    def test_does_not_keep_the_device(self):
        before = self.cell.driver.get_guest(HOST, self.server).spec
        detached = {'detach_volume': self.device.volume_id, 'detach_interface': self.vif['id']}
        made = getattr(self, self.name)()
        *others, last = made.steps()
        self.do(made, others)
        self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        self.assertIsInstance(last.do(), saga.Pending)
        self.cell.driver.destroy(HOST, self.server, key='lost')
        action = model.PowerAction.HARD_REBOOT
        self.cell.driver.change_power(HOST, self.server, action, key='reboot', spec=before)
        # A task of a saga, which waits for this one.
        self.cell.db.write(instances.force, self.server, {'task_state': 'resize_prep'})
        self.do(made, [last], times=2)
        found = self.cell.driver.get_guest(HOST, self.server).spec.devices
        self.assertNotIn(detached[self.name], {device.id for device in found})


class LostBeforeTheRecordTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    """A reboot knows the guest as it was before the device was on record, and makes it so."""

    scenarios = [(name, {'name': name}) for name in ('attach_volume', 'attach_interface')]

    def test_has_the_device(self):
        before = self.cell.driver.get_guest(HOST, self.server).spec
        made = getattr(self, self.name)()
        *others, pivot = made.steps()
        self.do(made, others)
        after = self.cell.driver.get_guest(HOST, self.server).spec
        self.assertNotEqual(before.devices, after.devices)
        self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        self.do(made, [pivot])
        last = made.steps()[-1]
        self.assertEqual(guest_devices.REPLUG, last.id)
        self.assertIsInstance(last.do(), saga.Pending)
        self.cell.driver.destroy(HOST, self.server, key='lost')
        action = model.PowerAction.HARD_REBOOT
        self.cell.driver.change_power(HOST, self.server, action, key='reboot', spec=before)
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        self.do(made, [last], times=2)
        found = self.cell.driver.get_guest(HOST, self.server).spec
        self.assertEqual(after.devices, found.devices)

    def test_each_try_is_another_one(self):
        """A failure at the host does not stay for good."""
        before = self.cell.driver.get_guest(HOST, self.server).spec
        made = getattr(self, self.name)()
        *others, pivot = made.steps()
        self.do(made, others)
        self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        self.do(made, [pivot])
        last = made.steps()[-1]
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        self.cell.driver.destroy(HOST, self.server, key='lost')
        self.assertRaises(exception.NovaLiteError, last.do)
        action = model.PowerAction.HARD_REBOOT
        self.cell.driver.change_power(HOST, self.server, action, key='reboot', spec=before)
        made.data[step.TRIES] = {guest_devices.REPLUG: 1}
        self.do(made, [last])
        found = self.cell.driver.get_guest(HOST, self.server).spec
        self.assertEqual(len(before.devices) + 1, len(found.devices))

    def test_reboot_that_comes_later_knows_it(self):
        made = getattr(self, self.name)()
        steps = made.steps()
        self.do(made, steps)
        self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        self.assertEqual(len(steps), len(made.steps()))


class LostBySwapTest(test_device_sagas.DeviceSagasCase):
    def test_has_the_other_volume(self):
        """The guest is lost when the new volume is plugged in, before the old one is unplugged."""
        driver = self.cell.driver
        before = driver.get_guest(HOST, self.server).spec
        attach = driver.attach

        def lose(*args, **kwargs):
            job = attach(*args, **kwargs)
            driver.destroy(HOST, self.server, key='lost')
            return job

        made = self.swap_volume()
        steps = made.steps()
        pivot = next(number for number, step in enumerate(steps) if step.pivot)
        self.patch(driver, 'attach', lose)
        self.do(made, steps[:pivot])
        self.patch(driver, 'attach', attach)
        action = model.PowerAction.HARD_REBOOT
        driver.change_power(HOST, self.server, action, key='reboot', spec=before)
        self.do(made, steps[pivot:])
        found = driver.get_guest(HOST, self.server).spec.devices
        self.assertEqual({self.vif['id'], self.new}, {device.id for device in found})


class LostHostTest(test_device_duties.LostHostCase):
    """The host is silent when the guest is to be looked at again."""

    def reboot(self, spec):
        """Make the guest again as it was."""
        self.cell.driver.change_power(
            HOST, self.server, model.PowerAction.HARD_REBOOT, key='reboot', spec=spec
        )

    def test_a_port_that_is_attached_again_stays(self):
        attach = self.attach_port()
        self.record(attach)
        self.run_until(attach, journal.DONE)
        detach = self.make(
            detach_interface.DetachInterface, transitions.DETACH_INTERFACE, port_id=self.port
        )
        self.record(detach)
        before = self.cell.driver.get_guest(HOST, self.server).spec
        self.cell.driver.destroy(HOST, self.server, key='lost')
        release = self.cell.network.release_from

        def release_last(*args, **kwargs):
            release(*args, **kwargs)
            self.force_down()

        self.patch(self.cell.network, 'release_from', release_last)
        self.run_until(detach, journal.CLEANING)
        self.patch(self.cell.network, 'release_from', release)
        self.force_down(False)
        self.reboot(before)
        again = self.attach_port()
        self.record(again)
        self.run_until(again, journal.DONE)
        self.run_until(detach, journal.DONE)
        on_record = [vif['id'] for vif in self.cell.row(self.server).network_info]
        self.assertIn(self.port, on_record)
        self.assertIn(self.port, self.plugged())

    def test_the_server_is_free_when_the_host_dies_with_its_reboot(self):
        detach = self.detach_volume()
        self.record(detach)
        self.cell.driver.destroy(HOST, self.server, key='lost')
        forget = type(detach).forget

        def forget_last(made):
            forget(made)
            task = {'task_state': 'reboot_started_hard'}
            self.cell.db.write(instances.force, self.server, task)
            self.force_down()

        self.patch(type(detach), 'forget', forget_last)
        self.run_until(detach, journal.CLEANING)
        self.assertIsNone(self.journal_row(detach).active_for)
