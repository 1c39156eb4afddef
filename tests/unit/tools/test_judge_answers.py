"""Cases of operations on servers that nova judges, and the shapes of answers."""

import contextlib
import io

import testtools

from tools.comparison import answer_cases
from tools.comparison import answer_groups
from tools.comparison import answer_reasons
from tools.comparison import answer_shapes
from tools.comparison import answer_table

ANSWER = answer_shapes.Answer


class CasesTest(testtools.TestCase):
    def test_each_request_in_each_state_by_both_users(self):
        found = list(answer_cases.every(('active', 'down')))
        requests = len(answer_cases.REQUESTS) + len(answer_cases.OLD)
        self.assertEqual(2 * 2 * requests, len(found))
        self.assertEqual(len(found), len(set(map(str, found))) * 2)

    def test_sample_has_each_state(self):
        found = answer_cases.chosen(200, seed=3)
        self.assertEqual(found, answer_cases.chosen(200, seed=3))
        self.assertNotEqual(found, answer_cases.chosen(200, seed=4))
        self.assertEqual(set(answer_cases.EVERY), {case.state for case in found})
        self.assertLessEqual(len(found), 200)

    def test_what_a_case_needs(self):
        case = answer_cases.Case('active', 'owner', 'PUT', '/x/{port}', {'a': '{volume}'}, 1)
        self.assertTrue(case.needs('port') and case.needs('volume'))
        self.assertFalse(case.needs('attached'))
        self.assertEqual('owner PUT /x/{port} {"a": "{volume}"} 2.1', str(case))


class GroupsTest(testtools.TestCase):
    def test_hosts(self):
        case = answer_groups.GroupCase('soft-affinity', False, 'migrate', answer_groups.WITH)
        self.assertEqual(('cell1-host2', 'cell1-host1'), (case.home, case.host))
        found = answer_groups.every()
        self.assertEqual(len(found), len(set(map(str, found))))
        self.assertEqual(set(answer_groups.POLICIES), {case.policy for case in found})


class ShapesTest(testtools.TestCase):
    def test_shape(self):
        shape = answer_shapes.of({'a': [{'b': 1}, {'b': None, 'c': ''}], 'd': [], 'e': True})
        expected = {
            '': 'object',
            'a': 'list',
            'a[]': 'object',
            'a[].b': 'null|number',
            'a[].c': 'empty text',
            'd': 'empty list',
            'e': 'boolean',
        }
        self.assertEqual(expected, shape)

    def test_differences(self):
        nova = ANSWER(200, answer_shapes.of({'a': {'b': {'c': 1}}, 'd': 'x'}), '')
        ours = ANSWER(200, answer_shapes.of({'a': {}, 'd': None}), '')
        expected = [('a.b', 'object', 'absent'), ('d', 'text', 'null')]
        self.assertEqual(expected, answer_shapes.of_answers(nova, ours))
        self.assertEqual([], answer_shapes.of_answers(nova, nova))

    def test_only_the_statuses_of_different_ones(self):
        found = answer_shapes.of_answers(ANSWER(202, {'a': 'text'}, ''), ANSWER(409, {}, ''))
        self.assertEqual([('status', '202', '409')], found)


class TableTest(testtools.TestCase):
    def _report(self, table):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = table.report(7)
        return code, out.getvalue()

    def test_one_line_for_a_cause(self):
        table = answer_table.Table()
        for state in ('active', 'paused'):
            table.add(state, 'owner GET / 2.96', [('status', '200', '404')])
        code, text = self._report(table)
        self.assertEqual(1, code)
        self.assertIn('owner GET / 2.96: status: nova 200, here 404: 2 x active, paused', text)
        self.assertIn('7 cases, 2 differences of 1 causes', text)

    def test_alike(self):
        table = answer_table.Table()
        table.add('active', 'owner GET / 2.96', [])
        self.assertEqual(0, self._report(table)[0])

    def test_case_that_was_not_sent(self):
        table = answer_table.Table()
        table.fail('active', 'not ACTIVE')
        self.assertEqual(1, self._report(table)[0])

    def test_each_reason_is_a_pattern(self):
        for pattern, reason in answer_reasons.REASONS:
            self.assertIsNone(answer_reasons.of('no such', pattern[:0], '', nova='', ours=''))
            self.assertTrue(reason)
