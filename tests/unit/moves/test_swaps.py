"""Volumes that were swapped, and what became of them before a duty of the saga came."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import swap_volume
from nova_lite.saga import journal
from tests.unit.moves import test_device_duties
from tests.unit.moves import test_device_sagas


class LateDutyTest(test_device_sagas.DeviceSagasCase):
    """The id that the volume keeps is recorded after the end of the saga."""

    def setUp(self):
        super().setUp()
        self.old = self.device.volume_id
        swap = self.swap_volume()
        *steps, kept = swap.steps()
        self.do(swap, steps)
        swap.results.keep(swap_volume.TELL, self.old)
        self.duty = kept.clean.do

    def recorded(self):
        (device,) = self.cell.devices(self.server)
        return device.volume_id

    def test_a_device_that_still_has_the_volume(self):
        self.assertEqual(self.new, self.recorded())
        self.duty()
        self.assertEqual(self.old, self.recorded())

    def test_a_device_whose_volume_was_swapped_again(self):
        other = runtime.new_uuid()
        self.cell.db.write(children.update_block_device, self.device.uuid, {'volume_id': other})
        self.duty()
        self.assertEqual(other, self.recorded())


class MigratingTest(test_device_duties.LostHostCase):
    """Cinder has asked for the swap, and gets a report when the guest has no target."""

    def setUp(self):
        super().setUp()
        self.cell.volume.migrations[self.device.volume_id] = 'migrating'
        self.made = self.lost('swap_volume', 'swap_volume')

    def migration(self):
        return self.cell.volume.migrations[self.device.volume_id]

    def test_reported_once_the_target_is_free(self):
        for _attempt in range(3):
            self.assertEqual(journal.CLEANING, self.attempt(self.made))
            self.assertEqual('migrating', self.migration())
        self.force_down(False)
        self.assertEqual(journal.UNDONE, self.run_until(self.made, *journal.ENDED))
        self.assertEqual('error', self.migration())
        self.assertFalse(self.is_reserved())

    def test_reported_of_a_server_that_was_deleted(self):
        self.cell.db.write(instances.mark_deleted, self.server)
        self.assertEqual(journal.UNDONE, self.attempt(self.made))
        self.assertEqual('error', self.migration())

    def test_reported_again_if_the_reply_is_lost(self):
        """Cinder has deleted the target by then."""
        self.force_down(False)
        down = exception.Unavailable(service='volume', reason='no reply')
        self.cell.volume.fail('complete_migration', down, times=1, after=True)
        self.assertEqual(journal.CLEANING, self.attempt(self.made))
        self.cell.volume.delete(self.ctxt, self.new)
        self.assertEqual(journal.UNDONE, self.run_until(self.made, *journal.ENDED))
        self.assertEqual('error', self.migration())
        self.assertEqual(2, self.cell.volume.calls.count('complete_migration'))

    def plug_without(self, method):
        """Run the duty while Cinder refuses one request. It plugs the volume nevertheless."""
        self.force_down(False)
        down = exception.Unavailable(service='volume', reason='down')
        self.cell.volume.fail(method, down, times=1)
        self.assertEqual(journal.CLEANING, self.attempt(self.made))
        self.assertEqual({self.device.volume_id, self.vif['id']}, self.plugged())
        self.assertEqual('migrating', self.migration())
        self.assertEqual(journal.UNDONE, self.run_until(self.made, *journal.ENDED))
        self.assertEqual('error', self.migration())
        self.assertFalse(self.is_reserved())

    def test_plugged_again_before_cinder_accepts_the_report(self):
        self.plug_without('complete_migration')

    def test_plugged_again_before_cinder_deletes_the_attachment(self):
        self.plug_without('delete_attachment')

    def test_reported_before_the_volume_is_plugged_again(self):
        """Plugging may fail for long, and Cinder need not wait for it."""
        refused = exception.Conflict(reason='no path')
        self.answer('attach_volume', refused, after=False)
        self.assertEqual(journal.CLEANING, self.attempt(self.made))
        self.assertEqual('error', self.migration())
