"""Run tox environments one after the other in this virtual environment; print their sum.

tox.ini says what each does; tox-current-env lets them share the interpreter
that runs this, since one installation serves them all. The last line reads
`N passed, N failed` (`, N skipped` may follow); an environment without tests,
like pep8, counts as one. Before it stand the tests that failed, with the end of
their traceback, since who reads a long log starts at its end. A test that passes is
only counted; build/tests has the whole output. What has not ended after 85 minutes
has failed. Where CI is set, a skipped test counts as failed.

Each test runs once. A test that fails now and then shows a defect, of the product or of
the test, so it counts as failed.

Tests wait for a good part of their time, so three run at once on two cores; of those
with servers and a process for each daemon two do. NOVA_LITE_TEST_WORKERS and
NOVA_LITE_TEST_CLOUDS say otherwise. tools/sample.py says which cases of the tables of
faults run; the first line reads how to run the same cases again.
"""

import argparse
import collections
import configparser
import os
import re
import signal
import subprocess
import sys
import tempfile

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
PASSED = ('Passed', 'Expected Fail')
FAILED = ('Failed', 'Unexpected Success')


def _environments():
    """The environments a plain `tox` runs."""
    parser = configparser.ConfigParser(interpolation=None)
    with open('tox.ini', encoding='utf-8') as source:
        parser.read_file(source)
    return parser['tox']['envlist'].replace('\n', ',').split(',')


def _run(name, work_dir):
    """Run one environment, passing on what matters; (exit code, {total: count}, failures)."""
    command = [sys.executable, '-m', 'tox', '--current-env', '-q', '--workdir', work_dir]
    process = subprocess.Popen(
        [*command, '-e', name],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        start_new_session=True,
    )
    _end_with_time(process)
    try:
        with open(os.path.join(LOG_DIR, f'{name}.log'), 'w', 1, 'utf-8') as file:
            totals, failures = follow(process.stdout, file)
        return process.wait(), totals, failures
    finally:
        _end(process)


def follow(output, log):
    """Keep all lines in the log and print all but the tests that pass; (totals, failures)."""
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
                print(f'{passed} tests passed', flush=True)
        else:
            print(text, flush=True)
    if passed and not totals:
        print('It ended amid the tests, after:', *last, sep='\n', flush=True)
    return totals, failures


def _totals(line):
    """[(result, number), ...] that a line tells."""
    found = TOTAL.match(line)
    if found:
        return [(found[1], int(found[2]))]
    found = HISTORIES.match(line)
    return [(key, int(number)) for key, number in found.groupdict().items()] if found else []


class Failures:
    """What stestr says of the tests that fail, as it says it.

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


def _end_with_time(process):
    def out_of_time(*_):
        print('\nThe time is up.', flush=True)
        _end(process)

    signal.signal(signal.SIGALRM, out_of_time)
    left, _interval = signal.getitimer(signal.ITIMER_REAL)
    if not left:
        out_of_time()


def _end(process):
    """Kill the process and its children, unless it has ended."""
    if process.poll() is None:
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
    os.environ.setdefault('NOVA_LITE_TEST_WORKERS', str((3 * os.cpu_count() + 1) // 2))
    os.environ.setdefault('NOVA_LITE_TEST_CLOUDS', '2')
    os.environ.setdefault(sample.VARIABLE, str(sample.number()))
    print('Sample of the tables of faults: %s' % sample.replay(), flush=True)
    os.makedirs(LOG_DIR, exist_ok=True)
    durations.load()
    signal.alarm(LIMIT_S)
    results, all_failures = {}, []
    with tempfile.TemporaryDirectory() as work_dir:
        for number, name in enumerate(names, 1):
            print('\n== %s (%d of %d)' % (name, number, len(names)), flush=True)
            code, totals, failures = _run(name, work_dir)
            results[name] = judge(code, totals)
            all_failures.append(failures)
    for failures in all_failures:
        failures.show()
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
