"""How the runner counts."""

import contextlib
import io

import testtools

from tools import run_tests


def _report(results, *, in_ci=False):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = run_tests.report(results, in_ci=in_ci)
    return code, printed.getvalue().splitlines()[-1]


class TestJudge(testtools.TestCase):
    def test_totals_of_stestr(self):
        totals = {'Passed': 3, 'Expected Fail': 1, 'Skipped': 2, 'Failed': 0}
        self.assertEqual((4, 0, 2), run_tests.judge(0, totals))

    def test_without_tests_the_exit_code_counts(self):
        self.assertEqual((1, 0, 0), run_tests.judge(0, {}))
        self.assertEqual((0, 1, 0), run_tests.judge(1, {}))

    def test_no_failed_test_but_an_exit_code(self):
        self.assertEqual((3, 1, 0), run_tests.judge(1, {'Passed': 3}))

    def test_unexpected_success_is_a_failure(self):
        self.assertEqual((0, 1, 0), run_tests.judge(1, {'Unexpected Success': 1}))


class TestReport(testtools.TestCase):
    def test_all_passed(self):
        self.assertEqual((0, '5 passed, 0 failed'), _report({'pep8': (1, 0, 0), 'unit': (4, 0, 0)}))

    def test_skipped_follows(self):
        self.assertEqual((0, '4 passed, 0 failed, 2 skipped'), _report({'unit': (4, 0, 2)}))

    def test_failed(self):
        self.assertEqual((1, '4 passed, 1 failed'), _report({'unit': (4, 1, 0)}))

    def test_skipped_fails_in_continuous_integration(self):
        self.assertEqual((1, '4 passed, 2 failed'), _report({'unit': (4, 0, 2)}, in_ci=True))


OUTPUT = """\
{1} tests.unit.test_a.TestA.test_good [0.1s] ... ok
{0} tests.unit.test_a.TestA.test_bad(one) [0.2s] ... FAILED

Captured traceback:
~~~~~~~~~~~~~~~~~~~
    Traceback (most recent call last):

      File "test_a.py", line 36, in test_bad
    TypeError: no

Saga 1 is run by someone else
  a table of another test
Captured pythonlogging:
~~~~~~~~~~~~~~~~~~~~~~~
    of no use
{1} tests.unit.test_a.TestA.test_other [0.1s] ... ok
ended with status -9
"""


class TestFollow(testtools.TestCase):
    def test_tests_that_pass_are_only_counted(self):
        good = ['{0} tests.a.b [0.1s] ... ok\n'] * run_tests.PROGRESS
        rest = ['{1} tests.a.c [0.1s] ... FAILED\n', '\n', ' - Passed: 100\n', ' - Failed: 1\n']
        log, printed = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed):
            totals, failures = run_tests.follow(good + rest, log)
        self.assertEqual(''.join(good + rest), log.getvalue())
        self.assertEqual('100 tests passed\n' + ''.join(rest), printed.getvalue())
        self.assertEqual({'Passed': 100, 'Failed': 1}, totals)
        self.assertEqual(['tests.a.c'], list(failures.tracebacks))

    def test_what_came_before_a_sudden_end_is_shown(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run_tests.follow(['{0} tests.a.b [0.1s] ... ok\n'], io.StringIO())
        self.assertIn('tests.a.b', printed.getvalue())


class TestOnceMore(testtools.TestCase):
    """Of two tests that failed."""

    NAMES = ['tests.a.b', 'tests.a.c']

    def test_both_pass(self):
        self.assertEqual(self.NAMES, run_tests.passed_now(self.NAMES, 0, {'Passed': 2}, {}))

    def test_one_fails_again(self):
        totals = {'Passed': 1, 'Failed': 1}
        left = {'tests.a.c': ['    no']}
        self.assertEqual(['tests.a.b'], run_tests.passed_now(self.NAMES, 1, totals, left))

    def test_what_did_not_run_did_not_pass(self):
        self.assertEqual([], run_tests.passed_now(self.NAMES, 0, {'Passed': 1}, {}))
        self.assertEqual([], run_tests.passed_now(self.NAMES, 0, {'Passed': 1, 'Skipped': 1}, {}))

    def test_a_class_that_could_not_be_set_up_says_nothing_of_its_tests(self):
        left = {'setUpClass (tests.a)': []}
        self.assertEqual([], run_tests.passed_now(['tests.a.b'], 1, {'Failed': 1}, left))

    def test_only_few_failures_of_clouds_alone(self):
        def worth(*names, of='functional', counted=None):
            failures = run_tests.Failures()
            for name in names:
                failures.read('{0} %s [0.2s] ... FAILED' % name)
            totals = {'Passed': 9, 'Failed': len(names) if counted is None else counted}
            return run_tests.is_worth_once_more(of, totals, failures)

        self.assertTrue(worth(*self.NAMES))
        self.assertTrue(worth(*self.NAMES, of='functional-rabbit'))
        self.assertFalse(worth(*self.NAMES, of='unit'))
        self.assertFalse(worth())
        self.assertFalse(worth(*self.NAMES, counted=3))
        self.assertFalse(worth(*self.NAMES, counted=0))
        self.assertFalse(worth('a.b', 'a.c', 'a.d', 'a.e'))
        for module in ('test_simcloud', 'test_limit_races'):
            self.assertFalse(worth(f'tests.functional_rabbit.{module}.MariaDBTest.test_a'))

    def test_a_run_that_broke_says_nothing(self):
        self.assertEqual([], run_tests.passed_now(self.NAMES, 1, {'Passed': 2}, {}))

    def test_it_is_named_as_unstable(self):
        failures = run_tests.Failures()
        for name in self.NAMES:
            failures.read('{0} %s [0.2s] ... FAILED' % name)
        failures.unstable = ['tests.a.b']
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            failures.show()
        self.assertEqual(
            ['UNSTABLE tests.a.b', 'FAILED tests.a.c'], printed.getvalue().split('\n')[::2][:2]
        )
        self.assertEqual((6, 1, 0), run_tests.add((5, 2, 0), 1, 1))

    def test_all_tests_of_a_class_that_could_not_be_set_up(self):
        set_up = 'setUpClass (tests.x.A)'
        known = [
            'tests.x.A.test_1',
            'tests.x.A.test_2(b c)',
            'tests.x.AB.test_3',
            'tests.x.C.test_4',
        ]
        wanted = run_tests.tests_behind([set_up, 'tests.x.C.test_4'], known)
        self.assertEqual({set_up: known[:2], 'tests.x.C.test_4': known[3:]}, wanted)
        names, mended = run_tests.unstable(wanted, known[:2])
        self.assertEqual(([set_up], known[:2]), (names, mended))
        self.assertEqual((7, 1, 0), run_tests.add((5, 2, 0), len(names), len(mended)))
        self.assertEqual(([], []), run_tests.unstable(wanted, known[:1]))
        self.assertEqual(([], []), run_tests.unstable({set_up: []}, known))


class TestFailures(testtools.TestCase):
    def test_names_with_spaces(self):
        failures = run_tests.Failures()
        failures.read('{2} tests.a.B.test_c(GET /servers/{id} 2.1) [1.5s] ... FAILED')
        failures.read('{2} tests.a.B.test_d(GET /flavors 2.1) ... FAILED')
        self.assertEqual(
            ['tests.a.B.test_c(GET /servers/{id} 2.1)', 'tests.a.B.test_d(GET /flavors 2.1)'],
            list(failures.tracebacks),
        )

    def test_tests_that_failed_stand_at_the_end(self):
        failures = run_tests.Failures()
        for line in OUTPUT.splitlines():
            failures.read(line)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            failures.show()
        self.assertEqual(
            [
                'FAILED tests.unit.test_a.TestA.test_bad(one)',
                '    Traceback (most recent call last):',
                '      File "test_a.py", line 36, in test_bad',
                '    TypeError: no',
            ],
            printed.getvalue().rstrip().splitlines(),
        )

    def test_of_a_long_traceback_the_end(self):
        failures = run_tests.Failures()
        failures.read('{0} tests.a.b [0.2s] ... FAILED')
        failures.read('Captured traceback:')
        for number in range(100):
            failures.read(f'    line {number}')
        lines = failures.tracebacks['tests.a.b']
        self.assertEqual(run_tests.TRACEBACK_LINES, len(lines))
        self.assertEqual('    line 99', lines[-1])
