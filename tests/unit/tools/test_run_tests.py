"""Counts of the runner of tests."""

import contextlib
import io
import os

import fixtures
import testtools

from tests.fixtures import imported
from tools import run_tests
from tools import sample


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
and this
  is why

Saga 1 is run by someone else
  a table of another test
Captured pythonlogging:
~~~~~~~~~~~~~~~~~~~~~~~
    of no use
{1} tests.unit.test_a.TestA.test_other [0.1s] ... ok
ended with status -9
"""


def _follow(lines):
    """(totals, failures, what the log has, what is said) of these lines."""
    log, said = io.StringIO(), []
    totals, failures = run_tests.follow(lines, log, said.append)
    return totals, failures, log.getvalue(), said


class TestFollow(testtools.TestCase):
    def test_tests_that_pass_are_only_counted(self):
        good = ['{0} tests.a.b [0.1s] ... ok\n'] * run_tests.PROGRESS
        rest = ['{1} tests.a.c [0.1s] ... FAILED\n', '\n', ' - Passed: 100\n', ' - Failed: 1\n']
        totals, failures, log, said = _follow(good + rest)
        self.assertEqual(''.join(good + rest), log)
        self.assertEqual(['100 tests passed', *(line.rstrip() for line in rest)], said)
        self.assertEqual({'Passed': 100, 'Failed': 1}, totals)
        self.assertEqual(['tests.a.c'], list(failures.tracebacks))

    def test_histories_count_as_tests(self):
        line = '198 histories passed, 2 failed; median 0.5 virtual minutes a CPU second'
        totals, _failures, _log, said = _follow([line])
        self.assertEqual((198, 2, 0), run_tests.judge(1, totals))
        self.assertEqual([line], said)

    def test_what_came_before_a_sudden_end_is_shown(self):
        _totals, _failures, _log, said = _follow(['{0} tests.a.b [0.1s] ... ok\n'])
        self.assertIn('tests.a.b', said[-1])


class TestMain(testtools.TestCase):
    """With a tox that stands in for the real one."""

    FAILS_FIRST = """\
import pathlib
runs = pathlib.Path('runs')
first = not runs.exists()
runs.write_text(runs.read_text() + 'x' if not first else 'x')
print('{0} tests.functional.a.B.test_c [0.1s] ... ' + ('FAILED' if first else 'ok'))
print(' - Passed: 0' if first else ' - Passed: 1')
print(' - Failed: 1' if first else ' - Failed: 0')
raise SystemExit(int(first))
"""
    MEETING = """\
import os, sys
os.makedirs('begun', exist_ok=True)
open(os.path.join('begun', sys.argv[sys.argv.index('-e') + 1]), 'w').close()
while len(os.listdir('begun')) < 2:
    pass
"""
    PRIORITY = "import os\nprint('nice', os.nice(0))\n"
    ENDED = """\
import os, signal, subprocess, sys
subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])
os.kill(os.getppid(), signal.%s)
signal.pause()
"""

    OUTLIVED = """\
import os, signal
tox, runner = os.getpid(), os.getppid()
if not os.fork():
    while os.getppid() == tox:
        pass
    os.kill(runner, signal.SIGTERM)
    signal.pause()
"""

    def run_with(self, tox, *environments):
        """The exit code and the lines printed of a run in a directory of its own."""
        self.work = self.useFixture(fixtures.TempDir()).path
        with open(os.path.join(self.work, 'tox.py'), 'w') as file:
            file.write(tox)
        code, printed = imported.output(
            'tools.run_tests',
            *environments,
            directory=self.work,
            env={**os.environ, 'PYTHONPATH': sample.TOP, 'CI': ''},
        )
        return code, printed.splitlines()

    def test_a_test_that_fails_is_not_repeated(self):
        code, printed = self.run_with(self.FAILS_FIRST, 'functional')
        self.assertEqual(1, code, printed)
        self.assertEqual('0 passed, 1 failed', printed[-1])
        with open(os.path.join(self.work, 'runs')) as file:
            self.assertEqual('x', file.read())

    def test_histories_leave_the_processors_to_others(self):
        code, printed = self.run_with(self.PRIORITY, 'functional', 'sim')
        self.assertEqual((0, '2 passed, 0 failed'), (code, printed[-1]))
        self.assertIn(f'functional: nice {os.nice(0)}', printed)
        self.assertIn(f'sim: nice {run_tests.LOWEST_PRIORITY}', printed)

    def test_clouds_of_processes_do_not_wait_for_others(self):
        """Each environment ends when the other one has begun."""
        code, printed = self.run_with(self.MEETING, 'functional', 'functional-rabbit')
        self.assertEqual((0, '2 passed, 0 failed'), (code, printed[-1]), printed)

    def test_alone_they_have_the_priority_of_the_run(self):
        _code, printed = self.run_with(self.PRIORITY, 'sim')
        self.assertIn(f'nice {os.nice(0)}', printed)

    def test_what_has_not_ended_when_the_run_ends_has_failed(self):
        # The output ends when the last child has: the run waits for no more.
        for name in ('SIGALRM', 'SIGHUP', 'SIGINT', 'SIGTERM'):
            code, printed = self.run_with(self.ENDED % name, 'functional', 'unit')
            self.assertEqual((1, '0 passed, 2 failed'), (code, printed[-1]), printed)
            self.assertIn(f'Ended by {name}.', printed)

    def test_what_outlives_an_environment_ends_with_the_run(self):
        # It has the environment's output open, so that the run would wait for it.
        code, printed = self.run_with(self.OUTLIVED, 'functional')
        self.assertEqual((1, '0 passed, 1 failed'), (code, printed[-1]), printed)


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
                'and this',
                '  is why',
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
