"""Run tox environments in this virtual environment; print the sum of their results.

tox.ini defines the environments; with tox-current-env they share the interpreter that runs this
module, since one installation serves all environments. The last line reads `N passed, N failed`
(`, N skipped` may follow); an environment without tests, like pep8, counts as one test. The tests
that failed, with the ends of their tracebacks, come before that line, because a reader of a long
log starts at its end. A test that passes is only counted; build/tests has the whole output. An
environment that has not ended after 85 minutes, or when a signal ends the run, is killed and has
failed. If the environment variable CI is set, a skipped test counts as failed.

Each test runs once. A test that fails now and then shows a defect of the product or of the test, so
it counts as failed.

Three rows of environments run at once. Unit tests, and tests that run commands against whole
clouds, wait for a good part of their time, so three of these tests run at once on two cores
(tools.forked). Tests of clouds with a process for each daemon (APART) wait most; one of them runs
at a time, in a row of its own. NOVA_LITE_TEST_WORKERS and NOVA_LITE_TEST_CLOUDS set other numbers.
Environments that only compute (BESIDE) run at the lowest priority, one after the other, and use the
processor time that the other rows leave. tools/sample.py selects the cases of the tables of faults
and the seeds of the simulation; the first line of the output reads how to run the same cases again.
"""

import argparse
import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import configparser
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import typing

from nova_lite import runtime
from tools import durations
from tools import sample

TOTAL = re.compile(r'^ - (Passed|Skipped|Failed|Unexpected Success|Expected Fail): (\d+)$')
# The last line of tests.sim: histories count as tests.
HISTORIES = re.compile(r'^(?P<Passed>\d+) histories passed, (?P<Failed>\d+) failed')
TEST = re.compile(r'^\{\d+\} (?P<name>\S.*?) (\[\S+\] )?\.\.\. (?P<result>\w+)')
HEADING = re.compile(r'^Captured (?P<what>\S+):$')
TRACEBACK_LINES = 30
LOG_DIR = os.path.join('build', 'tests')
# Number of lines that are shown of an environment that ends amid its tests.
LAST_LINES = 20
# Number of tests that pass between two lines of progress.
PROGRESS = 100
LIMIT_S = 85 * 60
# The environments are process groups of their own, which these signals do not reach.
ENDING = (signal.SIGALRM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# Environments that wait for most of their time.
APART = ('functional-rabbit',)
# Environments that may run slowly. They have no bounds of real time, but for the two moves of
# lowest-apis and plain, which take seconds and may take two minutes. The one that uses both
# processors comes last in tox.ini: what is left of it when the other rows have ended takes half the
# time.
BESIDE = ('pep8', 'lowest-apis', 'plain', 'docs', 'gabbi', 'sim')
LOWEST_PRIORITY = 19
# Environments in which tests may take turns, see tools/sample.py.
IN_TURNS = ('functional', 'functional-rabbit')
# Environments that take turns: with each commit one of them runs.
EITHER = ('lowest-apis', 'plain')
PASSED = ('Passed', 'Expected Fail')
FAILED = ('Failed', 'Unexpected Success')


def _environments() -> list[str]:
    """Return the environments that a plain `tox` runs, one of EITHER."""
    parser = configparser.ConfigParser(interpolation=None)
    with open('tox.ini', encoding='utf-8') as source:
        parser.read_file(source)
    names = parser['tox']['envlist'].replace('\n', ',').split(',')
    if not os.environ.get(sample.TURNS, '1'):
        return names
    left_out = EITHER[sample.number() % len(EITHER)]
    return [name for name in names if name != left_out]


class Outcome(typing.NamedTuple):
    """The end of an environment. code: exit code; totals: {result: number of tests}"""

    code: int
    totals: dict[str, int]
    failures: 'Failures'


class Runs:
    """Runs environments: those in BESIDE in one row, those in APART in one, the others in one.

    outcomes: {environment: Outcome} of the environments that have ended
    """

    def __init__(self, names: Sequence[str], work_dir: str) -> None:
        self._work_dir = work_dir
        rows: dict[tuple[str, ...], list[str]] = {(): [], APART: [], BESIDE: []}
        for name in names:
            rows[next((row for row in (APART, BESIDE) if name in row), ())].append(name)
        self._rows = [row for row in rows.values() if row]
        self._names = names
        self._running: list[subprocess.Popen[str]] = []
        self._is_over = False
        self.outcomes: dict[str, Outcome] = {}

    def run(self) -> None:
        """Run all environments. Those that have not ended when `end` is called have failed."""
        threads = [runtime.spawn(self._run_row, row) for row in self._rows]
        for thread in threads:
            thread.join()

    def end(self, number: int, _frame: types.FrameType | None) -> None:
        """Kill the running environments, and start no other. For signals."""
        print('\nEnded by %s.' % signal.Signals(number).name, flush=True)
        self._is_over = True
        for process in tuple(self._running):
            _end(process)

    def _run_row(self, names: Iterable[str]) -> None:
        for name in names:
            self.outcomes[name] = Outcome(1, {}, Failures()) if self._is_over else self._run(name)

    def _run(self, name: str) -> Outcome:
        say = functools.partial(_say, f'{name}: ' if len(self._rows) > 1 else '')
        _say('', '\n== %s (of %d)' % (name, len(self._names)))
        lowered = ['nice', '-n', str(LOWEST_PRIORITY)] if self._is_beside(name) else []
        tox = [sys.executable, '-m', 'tox', '--current-env', '-q', '-e', name]
        # In the same session, because Linux compares priorities only within a session.
        turns = {sample.TURNS: os.environ.get(sample.TURNS, '1')} if name in IN_TURNS else {}
        process = subprocess.Popen(
            [*lowered, *tox, '--workdir', os.path.join(self._work_dir, name)],
            env={**os.environ, **turns},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            process_group=0,
        )
        self._running.append(process)
        if self._is_over:
            _end(process)
        try:
            with open(os.path.join(LOG_DIR, f'{name}.log'), 'w', 1, 'utf-8') as file:
                assert process.stdout is not None
                totals, failures = follow(process.stdout, file, say)
            return Outcome(process.wait() or int(self._is_over), totals, failures)
        finally:
            _end(process)
            self._running.remove(process)

    def _is_beside(self, name: str) -> bool:
        return len(self._rows) > 1 and name in BESIDE


def _say(prefix: str, line: str) -> None:
    # Text and line end in one write: two rows print at the same time.
    print(f'{prefix}{line}\n', end='', flush=True)


def follow(
    output: Iterable[str], log: typing.TextIO, say: Callable[[str], None]
) -> 'tuple[dict[str, int], Failures]':
    """Write all lines into the log, and `say` all lines but those of tests that pass.

    Return (totals, failures).
    """
    totals: dict[str, int] = {}
    failures, passed = Failures(), 0
    last: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
    for line in output:
        log.write(line)
        text = line.rstrip()
        last.append(text)
        failures.read(text)
        for key, number in _totals(text):
            totals[key] = totals.get(key, 0) + number
        test = TEST.match(text)
        if test and test['result'] == 'ok':
            passed += 1
            if passed % PROGRESS == 0:
                say(f'{passed} tests passed')
        else:
            say(text)
    if passed and not totals:
        for line in ('It ended amid the tests, after:', *last):
            say(line)
    return totals, failures


def _totals(line: str) -> list[tuple[str, int]]:
    """Return [(result, number), ...] of a line."""
    found = TOTAL.match(line)
    if found:
        return [(found[1], int(found[2]))]
    found = HISTORIES.match(line)
    return [(key, int(number)) for key, number in found.groupdict().items()] if found else []


class Failures:
    """The report of stestr about the tests that failed, unchanged.

    tracebacks: {test: the last lines of its traceback}
    """

    def __init__(self) -> None:
        self.tracebacks: dict[str, collections.deque[str]] = {}
        self._lines: collections.deque[str] | None = None
        self._ended: collections.deque[str] | None = None
        self._told = False

    def read(self, line: str) -> None:
        """Read the next line of the output."""
        test, heading = TEST.match(line), HEADING.match(line)
        if test:
            self._ended = self._lines = None
            if test['result'] == 'FAILED':
                self._ended = collections.deque(maxlen=TRACEBACK_LINES)
                self.tracebacks[test['name']] = self._ended
        elif heading:
            self._lines = self._ended if heading['what'] == 'traceback' else None
        elif self._lines is not None and line.strip():
            # Only the first line of a message of several lines is indented.
            if self._told or line.startswith(' ' * 4):
                self._told = True
                self._lines.append(line)
        else:
            self._told = False

    def show(self) -> None:
        """Print the tests and the ends of their tracebacks."""
        for name, lines in self.tracebacks.items():
            print(f'FAILED {name}', *lines, '', sep='\n')


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the process and its children, also children that have outlived the process."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def judge(code: int, totals: Mapping[str, int]) -> tuple[int, int, int]:
    """Return (passed, failed, skipped) of one environment."""
    passed = sum(totals.get(key, 0) for key in PASSED)
    failed = sum(totals.get(key, 0) for key in FAILED)
    skipped = totals.get('Skipped', 0)
    if code and not failed:
        failed = 1
    if not code and not totals:
        passed = 1
    return passed, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('environment', nargs='*', help='default: what a plain tox runs')
    names = parser.parse_args().environment or _environments()
    os.environ.setdefault(sample.VARIABLE, str(sample.number()))
    print('Sample of the tables of faults and of seeds: %s' % sample.replay(), flush=True)
    os.makedirs(LOG_DIR, exist_ok=True)
    durations.load()
    with tempfile.TemporaryDirectory() as work_dir:
        runs = Runs(names, work_dir)
        for number in ENDING:
            signal.signal(number, runs.end)
        signal.alarm(LIMIT_S)
        runs.run()
    outcomes = {name: runs.outcomes[name] for name in names}
    for outcome in outcomes.values():
        outcome.failures.show()
    results = {name: judge(each.code, each.totals) for name, each in outcomes.items()}
    return report(results, in_ci=os.environ.get('CI', '').lower() in ('1', 'true', 'yes'))


def report(results: Mapping[str, tuple[int, int, int]], *, in_ci: bool) -> int:
    """Print a line per environment and the sum. Return the exit code."""
    print()
    for name, counts in results.items():
        print('%-20s %5d passed, %d failed, %d skipped' % (name, *counts))
    passed, failed, skipped = (sum(column) for column in zip(*results.values(), strict=True))
    if in_ci and skipped:
        print('%d skipped tests count as failed, since CI is set' % skipped)
        failed, skipped = failed + skipped, 0
    line = '%d passed, %d failed' % (passed, failed)
    print(line + (', %d skipped' % skipped if skipped else ''), flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
