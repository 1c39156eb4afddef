"""Run tox environments in this virtual environment; print their sum.

tox.ini says what each does; tox-current-env lets them share the interpreter
that runs this, since one installation serves them all. The last line reads
`N passed, N failed` (`, N skipped` may follow); an environment without tests,
like pep8, counts as one. Before it stand the tests that failed, with the end of
their traceback, since who reads a long log starts at its end. A test that passes is
only counted; build/tests has the whole output. What has not ended after 85 minutes,
or when a signal ends the run, is killed and has failed. Where CI is set, a skipped test
counts as failed.

Each test runs once. A test that fails now and then shows a defect, of the product or of
the test, so it counts as failed.

Unit tests, and those that run commands against whole clouds, wait for a good part of their
time, so three run at once on two cores (tools.forked); of clouds with a process for each
daemon two do. NOVA_LITE_TEST_WORKERS and NOVA_LITE_TEST_CLOUDS say otherwise. Environments
that only compute (BESIDE) run at the lowest priority beside the others, one after the other,
and use what these leave of the processors. tools/sample.py says which cases of the tables of
faults run; the first line reads how to run the same cases again.
"""

import argparse
import collections
import configparser
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile

from nova_lite import runtime
from tools import durations
from tools import sample

TOTAL = re.compile(r'^ - (Passed|Skipped|Failed|Unexpected Success|Expected Fail): (\d+)$')
# What tests.sim prints at its end: histories count as tests.
HISTORIES = re.compile(r'^(?P<Passed>\d+) histories passed, (?P<Failed>\d+) failed')
TEST = re.compile(r'^\{\d+\} (?P<name>\S.*?) (\[\S+\] )?\.\.\. (?P<result>\w+)')
HEADING = re.compile(r'^Captured (?P<what>\S+):$')
TRACEBACK_LINES = 30
LOG_DIR = os.path.join('build', 'tests')
# So many lines are shown of an environment that ends amid its tests.
LAST_LINES = 20
# So many tests pass between two signs of life.
PROGRESS = 100
LIMIT_S = 85 * 60
# The environments are process groups of their own, which these do not reach.
ENDING = (signal.SIGALRM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# What has no bounds of real time, so that it may run slowly.
BESIDE = ('pep8', 'mypy', 'lowest-apis', 'docs', 'sim', 'gabbi')
LOWEST_PRIORITY = 19
PASSED = ('Passed', 'Expected Fail')
FAILED = ('Failed', 'Unexpected Success')


def _environments():
    """The environments a plain `tox` runs."""
    parser = configparser.ConfigParser(interpolation=None)
    with open('tox.ini', encoding='utf-8') as source:
        parser.read_file(source)
    return parser['tox']['envlist'].replace('\n', ',').split(',')


class Runs:
    """Runs environments, in two rows beside each other when there are such as run beside.

    outcomes: {environment: (exit code, {total: count}, Failures)} of those that have ended
    """

    def __init__(self, names, work_dir):
        self._work_dir = work_dir
        beside = [name for name in names if name in BESIDE]
        others = [name for name in names if name not in BESIDE]
        self._rows = [row for row in (others, beside) if row]
        self._names = names
        self._running = []
        self._is_over = False
        self.outcomes = {}

    def run(self):
        """Run all; what has not ended when `end` is called has failed."""
        threads = [runtime.spawn(self._run_row, row) for row in self._rows]
        for thread in threads:
            thread.join()

    def end(self, number, _frame):
        """Kill what runs, and start nothing more; a handler of signals."""
        print('\nEnded by %s.' % signal.Signals(number).name, flush=True)
        self._is_over = True
        for process in tuple(self._running):
            _end(process)

    def _run_row(self, names):
        for name in names:
            self.outcomes[name] = (1, {}, Failures()) if self._is_over else self._run(name)

    def _run(self, name):
        say = functools.partial(_say, f'{name}: ' if len(self._rows) > 1 else '')
        _say('', '\n== %s (of %d)' % (name, len(self._names)))
        lowered = ['nice', '-n', str(LOWEST_PRIORITY)] if self._is_beside(name) else []
        tox = [sys.executable, '-m', 'tox', '--current-env', '-q', '-e', name]
        # In the same session: Linux compares priorities only within one.
        process = subprocess.Popen(
            [*lowered, *tox, '--workdir', os.path.join(self._work_dir, name)],
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
                totals, failures = follow(process.stdout, file, say)
            return process.wait() or int(self._is_over), totals, failures
        finally:
            _end(process)
            self._running.remove(process)

    def _is_beside(self, name):
        return len(self._rows) > 1 and name in BESIDE


def _say(prefix, line):
    # Text and line end in one write: two rows print at the same time.
    print(f'{prefix}{line}\n', end='', flush=True)


def follow(output, log, say):
    """Keep all lines in the log and `say` all but the tests that pass; (totals, failures)."""
    totals, failures, passed = {}, Failures(), 0
    last = collections.deque(maxlen=LAST_LINES)
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


def _totals(line):
    """[(result, number), ...] that a line tells."""
    found = TOTAL.match(line)
    if found:
        return [(found[1], int(found[2]))]
    found = HISTORIES.match(line)
    return [(key, int(number)) for key, number in found.groupdict().items()] if found else []


class Failures:
    """The report of stestr about the tests that fail, unchanged.

    tracebacks: {test: the last lines of its traceback}
    """

    def __init__(self):
        self.tracebacks = {}
        self._lines = self._ended = None
        self._told = False

    def read(self, line):
        """Take in the next line of the output."""
        test, heading = TEST.match(line), HEADING.match(line)
        if test:
            self._ended = self._lines = None
            if test['result'] == 'FAILED':
                self._ended = collections.deque(maxlen=TRACEBACK_LINES)
                self.tracebacks[test['name']] = self._ended
        elif heading:
            self._lines = self._ended if heading['what'] == 'traceback' else None
        elif self._lines is not None and line.strip():
            # What an exception says in more than one line is indented in the first only.
            if self._told or line.startswith(' ' * 4):
                self._told = True
                self._lines.append(line)
        else:
            self._told = False

    def show(self):
        """Print the tests and the ends of their tracebacks."""
        for name, lines in self.tracebacks.items():
            print(f'FAILED {name}', *lines, '', sep='\n')


def _end(process):
    """Kill the process and its children, those that have outlived it among them."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def judge(code, totals):
    """(passed, failed, skipped) of one environment."""
    passed = sum(totals.get(key, 0) for key in PASSED)
    failed = sum(totals.get(key, 0) for key in FAILED)
    skipped = totals.get('Skipped', 0)
    if code and not failed:
        failed = 1
    if not code and not totals:
        passed = 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('environment', nargs='*', help='default: what a plain tox runs')
    names = parser.parse_args().environment or _environments()
    os.environ.setdefault('NOVA_LITE_TEST_CLOUDS', '2')
    os.environ.setdefault(sample.VARIABLE, str(sample.number()))
    print('Sample of the tables of faults: %s' % sample.replay(), flush=True)
    os.makedirs(LOG_DIR, exist_ok=True)
    durations.load()
    with tempfile.TemporaryDirectory() as work_dir:
        runs = Runs(names, work_dir)
        for number in ENDING:
            signal.signal(number, runs.end)
        signal.alarm(LIMIT_S)
        runs.run()
    outcomes = {name: runs.outcomes[name] for name in names}
    for _code, _totals, failures in outcomes.values():
        failures.show()
    results = {name: judge(code, totals) for name, (code, totals, _) in outcomes.items()}
    return report(results, in_ci=os.environ.get('CI', '').lower() in ('1', 'true', 'yes'))


def report(results, *, in_ci):
    """Print a line per environment and the sum; the exit code."""
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
