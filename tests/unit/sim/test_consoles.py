"""Consoles that must be refused, as the simulation judges them."""

import testtools

from tests.sim.workload import consoles

TASK = 'OS-EXT-STS:task_state'
MIGRATING = {'status': 'MIGRATING', TASK: 'migrating', 'updated': 'T1'}


class RefusedTestCase(testtools.TestCase):
    def test_a_server_that_migrates_all_the_time(self):
        self.assertTrue(consoles.must_be_refused(MIGRATING, MIGRATING))

    def test_a_server_that_has_changed_meanwhile(self):
        for change in ({'status': 'ACTIVE', TASK: None}, {'updated': 'T2'}):
            self.assertFalse(consoles.must_be_refused(MIGRATING, {**MIGRATING, **change}))

    def test_other_tasks_allow_a_console(self):
        rebooted = {'status': 'REBOOT', TASK: 'rebooting', 'updated': 'T1'}
        self.assertFalse(consoles.must_be_refused(rebooted, rebooted))

    def test_a_cell_that_is_down_shows_no_task(self):
        unknown = {'status': 'UNKNOWN'}
        self.assertFalse(consoles.must_be_refused(unknown, unknown))
