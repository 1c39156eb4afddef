"""The table of repairs of servers, by their states."""

import itertools
import string

import testtools

from nova_lite import states
from nova_lite.states import nova_failures
from nova_lite.states import repairs

V, T = states.VmState, states.TaskState
Situation = repairs.Situation


class RepairsTest(testtools.TestCase):
    def test_states(self):
        for name, situation in (
            ('none', Situation(V.ACTIVE)),
            ('none', Situation(V.SHELVED_OFFLOADED, on_host=False)),
            ('moving', Situation(V.ACTIVE, T.MIGRATING, is_moving=True, host_down=True)),
            ('deletion', Situation(V.ACTIVE, T.DELETING, host_down=True)),
            ('task-on-lost-host', Situation(V.ACTIVE, T.REBUILDING, host_down=True)),
            ('lost-host', Situation(V.STOPPED, host_down=True)),
            ('lost-host', Situation(V.ERROR, host_down=True)),
            ('lost-host-of-other-states', Situation(V.PAUSED, host_down=True)),
            ('task', Situation(V.ACTIVE, T.POWERING_OFF)),
            ('error-without-host', Situation(V.ERROR, on_host=False)),
            ('error', Situation(V.ERROR)),
            ('resized', Situation(V.RESIZED)),
        ):
            self.assertEqual(name, repairs.of(situation).name, situation)

    def test_each_row_is_found(self):
        every = itertools.product(V, (None, *T), *[(True, False)] * 3)
        found = {repairs.of(Situation(*values)).name for values in every}
        self.assertEqual({repair.name for repair in repairs.REPAIRS}, found)

    def test_failures(self):
        """The commands of a failure, while the server is as it has left it."""
        for failure in nova_failures.FAILURES:
            task = T.REBUILDING if failure.keeps_task else None
            left = Situation(failure.vm_state or V.ACTIVE, task, failure=failure.name)
            if failure.stays(left.vm_state, task):
                self.assertEqual(failure.repair, repairs.of(left).commands)
                self.assertTrue(repairs.of(left).is_needed)
            mended = Situation(V.ACTIVE, failure=failure.name)
            self.assertEqual('none', repairs.of(mended).name)

    def test_commands_name_what_is_known(self):
        for repair in repairs.REPAIRS:
            for command in repair.commands:
                fields = {name for _, name, _, _ in string.Formatter().parse(command) if name}
                self.assertEqual(set(), fields - {'server', 'host', 'migration'})
