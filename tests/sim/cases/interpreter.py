"""The interpreter that plays tests: one for this process, started when it is first needed."""

import functools
import json
import os
import shutil
import subprocess
import sys

from tests.sim.world import places
from tools import sample

SEED = 'NOVA_LITE_TEST_SEED'


def play(test_id):
    """Have a test played; {'failure': text or '', 'printed': text, 'replay': text}."""
    number = os.environ.get(SEED, '0')
    replay = f'{SEED}={number} {sample.replay()} stestr --test-path tests/functional run {test_id}'
    failure = {'printed': '', 'replay': replay}
    player = running()
    try:
        return {**failure, **player.play(f'{number} {test_id}')}
    except OSError as error:
        # The next test has another.
        running.cache_clear()
        return {**failure, 'failure': f'{error}; exit status {player.end()}'}


@functools.cache
def running():
    """The one of this process."""
    return Interpreter()


class Interpreter:
    """A process that plays one test after the other. It ends with this one.

    process: a Popen
    """

    def __init__(self):
        answers, theirs = os.pipe()
        self._root = places.directory()
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'tests.sim.cases', str(theirs), self._root],
            cwd=sample.TOP,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs],
            env={**os.environ, 'PYTHONHASHSEED': '0', sample.VARIABLE: str(sample.number())},
        )
        os.close(theirs)
        self._answers = open(answers)  # noqa: SIM115 - until `end`

    def play(self, seed):
        """{'failure', 'printed'} of a seed: a number and the id of a test."""
        self.process.stdin.write(f'{seed}\n'.encode())
        line = self._answers.readline()
        if not line:
            raise OSError('The interpreter that plays tests has ended')
        return json.loads(line)

    def end(self):
        """Have the process end; return its exit status."""
        self.process.stdin.close()
        self._answers.close()
        status = self.process.wait()
        # It removes its files itself, unless it was killed.
        shutil.rmtree(self._root, ignore_errors=True)
        return status
