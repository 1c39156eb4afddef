"""The cases of tools.judge_failures, and the comparison of an end with a row."""

import testtools

from nova_lite.states import nova_failures
from tools import judge_failures

END = {'vm_state': 'error', 'task': None, 'fault': True, 'migration': 'error'}


class JudgeFailuresTest(testtools.TestCase):
    def test_compared_rows_have_cases(self):
        compared = {
            failure.name
            for failure in nova_failures.FAILURES
            if failure.known is nova_failures.Known.COMPARED
        }
        known = {*judge_failures.CASES, *judge_failures.FAILING}
        self.assertEqual(set(), compared - known)
        for method in judge_failures.CASES.values():
            self.assertTrue(callable(getattr(judge_failures.Judge, method)))

    def test_differences(self):
        row = nova_failures.BY_NAME['resize-on-destination']
        self.assertEqual([], judge_failures.differences(row, END))
        other = {'vm_state': 'active', 'task': 'resize_finish', 'migration': 'finished'}
        found = judge_failures.differences(row, {**END, **other})
        self.assertEqual(
            ['the state is error', 'there is no task', 'the migration is error'], found
        )
        found = judge_failures.differences(row, {**END, 'fault': False})
        self.assertEqual(['there is a fault'], found)

    def test_a_kept_task(self):
        row = nova_failures.BY_NAME['rebuild-on-lost-host']
        end = {'vm_state': 'active', 'task': 'rebuilding', 'fault': False, 'migration': None}
        self.assertEqual([], judge_failures.differences(row, end))
        found = judge_failures.differences(row, {**end, 'task': None})
        self.assertEqual(['the task is kept'], found)
