"""The interpreter that runs programs of `programs`: one for this process, with its modules.

It is forked for each run, which so starts from the same state without importing anything.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile

from nova_lite import runtime
from tests.sim.kernel import runner

COMMAND = (sys.executable, '-m', 'tests.unit.sim.programs')


def run(*arguments):
    """Run programs.py with arguments; return (exit status, output, what went to stderr)."""
    with tempfile.TemporaryFile('w+') as output, tempfile.TemporaryFile('w+') as errors:
        status = _running().run(arguments, output, errors)
        for file in output, errors:
            file.seek(0)
        return status, output.read(), errors.read()


def environment():
    """Variables of an interpreter that need not start itself a second time."""
    return dict(os.environ, PYTHONHASHSEED='0')


@functools.cache
def _running():
    return Interpreter()


class Interpreter:
    """A process that ends with this one."""

    def __init__(self):
        answers, theirs = os.pipe()
        self._process = subprocess.Popen(
            [*COMMAND, 'serve', str(theirs)],
            stdin=subprocess.PIPE,
            pass_fds=[theirs],
            env=environment(),
        )
        os.close(theirs)
        self._answers = open(answers)  # noqa: SIM115 - ends with this process

    def run(self, arguments, output, errors):
        """Return the exit status of a run. output, errors: open files for what it prints"""
        files = [f'/proc/{os.getpid()}/fd/{file.fileno()}' for file in (output, errors)]
        self._process.stdin.write(json.dumps([arguments, *files]).encode() + b'\n')
        self._process.stdin.flush()
        # A start that is stuck is ended only then.
        if not runtime.wait_readable(self._answers, runner.WATCHDOG_S):
            self._process.kill()
            _running.cache_clear()
            raise AssertionError(f'{arguments} not ended after {runner.WATCHDOG_S} s')
        return int(self._answers.readline())
