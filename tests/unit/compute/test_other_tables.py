"""Actions of a host whose table of states is not that of its conductor."""

import dataclasses

import fixtures

from nova_lite import states
from nova_lite.compute import power
from tests.unit.compute import test_power


class TestAnotherTable(test_power.Base):
    """The host is of another release than its conductor: its table of states differs."""

    def have(self, **differing):
        pause = power.ACTIONS['pause']
        row = dataclasses.replace(pause.transition, **differing)
        table = {**power.ACTIONS, 'pause': dataclasses.replace(pause, transition=row)}
        self.useFixture(fixtures.MonkeyPatch('nova_lite.compute.power.ACTIONS', table))

    def check_has_ended(self, vm_state):
        self.assertEqual((vm_state, None, 'host-1'), self.cell.state(self.uuid))
        self.assertIn('no transition leads there', self.cell.fault(self.uuid))
        event = (power.ACTIONS['pause'].event, 'host-1', 'Error')
        self.assertEqual([event], self.cell.events(self.uuid)[1:])
        calls = len(self.cell.lossy.calls)
        self.cell.compute._resume.run(0)
        self.assertEqual(['unfinished'], self.cell.lossy.calls[calls:])

    def test_that_ends_in_another_state(self):
        self.have(after=states.VmState.SUSPENDED)
        self.act('pause')
        self.check_has_ended('error')
        self.assertEqual(test_power.PAUSED, self.cell.row(self.uuid).power_state)
        self.act('reboot_hard')
        self.check('reboot_hard')

    def test_that_has_another_task(self):
        self.have(through=(states.TaskState.SUSPENDING,))
        self.act('pause')
        self.check_has_ended('active')
        self.assertEqual(
            {self.uuid: [('host-1', 'resident', test_power.RUNNING)]}, self.cell.guests()
        )
