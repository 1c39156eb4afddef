"""The transition table against the table of statuses."""

import hypothesis
from hypothesis import strategies
import testtools

from nova_lite import states


class StatusTest(testtools.TestCase):
    def test_examples_of_the_reference(self):
        for vm_state, task_state, status in (
            ('active', None, 'ACTIVE'),
            ('active', 'resize_prep', 'RESIZE'),
            ('active', 'rebooting_hard', 'HARD_REBOOT'),
            ('active', 'powering-off', 'ACTIVE'),
            ('stopped', 'resize_finish', 'RESIZE'),
            ('stopped', 'powering-on', 'SHUTOFF'),
            ('resized', None, 'VERIFY_RESIZE'),
            ('resized', 'resize_reverting', 'REVERT_RESIZE'),
            ('paused', 'migrating', 'MIGRATING'),
            ('error', 'rebuilding', 'REBUILD'),
            ('error', 'migrating', 'ERROR'),
            ('building', 'spawning', 'BUILD'),
            ('no-such-state', None, 'UNKNOWN'),
        ):
            self.assertEqual(status, states.status_of(vm_state, task_state))

    @hypothesis.settings(deadline=None, derandomize=True)
    @hypothesis.given(
        strategies.sampled_from(list(states.VmState)),
        strategies.sampled_from([None, *states.TaskState]),
    )
    def test_each_pair_is_found_by_its_status(self, vm_state, task_state):
        status = states.status_of(vm_state, task_state)
        exceptions = states.STATUS[vm_state][1]
        matches = [tasks for found, tasks in states.states_of(status) if found == vm_state]
        self.assertTrue(
            any(
                task_state in tasks
                if tasks
                else task_state not in exceptions or exceptions[task_state] == status
                for tasks in matches
            )
        )
