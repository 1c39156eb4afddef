"""Reboots and rescues of guests that others have changed, or whose image is gone."""

from nova_lite.db.cell import instances
from tests.unit.compute import test_power

RUNNING = test_power.RUNNING


class TestSoftReboot(test_power.Base):
    def test_of_a_guest_that_is_off(self):
        """After os-resetState the record says that a stopped server is active."""
        self.act('stop')
        self.cell.db.write(instances.force, self.uuid, {'vm_state': 'active'})
        self.act('reboot_soft')
        self.check('reboot_soft')
        self.assertEqual({self.uuid: [('host-1', 'resident', RUNNING)]}, self.cell.guests())


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
