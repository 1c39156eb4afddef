"""Volumes of a server that is shelved and offloaded: attached and detached without a host."""

from nova_lite.db.cell import instances
from nova_lite.moves import detach_volume
from nova_lite.states import transitions
from tests.unit.moves import test_device_sagas


class OnNoHostTest(test_device_sagas.DeviceSagasCase):
    def setUp(self):
        super().setUp()
        values = {'host': None, 'node': None, 'vm_state': 'shelved_offloaded'}
        self.cell.db.write(instances.force, self.server, values)
        self.known = set(self.cell.volume.attachments)

    def added(self):
        """The attachments that were made: [(volume, whether it is complete), ...]."""
        found = self.cell.volume.attachments
        return [
            (each['volume_id'], each['complete'])
            for name, each in found.items()
            if name not in self.known
        ]

    def test_each_step_is_undone(self):
        for count in (1, 2, 3):
            made = self.attach_volume()
            steps = made.steps()[:count]
            self.assertFalse(any(step.pivot for step in steps))
            self.do(made, steps, times=2)
            self.assertEqual(count == 3, (self.new, True) in self.added())
            self.undo(made, steps)
            self.assertEqual([], self.added())
            self.assertEqual(1, len(self.cell.devices(self.server)))

    def test_attached_and_detached(self):
        made = self.attach_volume()
        self.do(made, made.steps(), times=2)
        self.assertEqual([(self.new, True)], self.added())
        made = self.make(detach_volume.DetachVolume, transitions.DETACH_VOLUME, volume_id=self.new)
        self.do(made, made.steps(), times=2)
        self.assertEqual([], self.added())
