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


class TestFailures(testtools.TestCase):
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
