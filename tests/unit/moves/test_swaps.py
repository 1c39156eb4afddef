"""Volumes that were swapped, and what became of them before a duty of the saga came."""

from nova_lite import runtime
from nova_lite.db.cell import children
from nova_lite.moves import swap_volume
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
