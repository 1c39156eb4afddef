"""The interpreter that plays tests: one for all processes of a run, or for this one.

`python -m tests.sim.cases.interpreter COMMAND …` starts one and runs the command, whose
processes share it. A process outside of such a command starts its own when it is first needed.
"""

import functools
import json
import os
import shutil
import socket
import subprocess
import sys

from tests.sim.world import directories
from tools import sample

SEED = 'NOVA_LITE_TEST_SEED'
# The address of the one that is shared.
SHARED = 'NOVA_LITE_TEST_PLAYER'


def play(test_id):
    """Run a test. Return {'failure': text or '', 'printed': text, 'replay': text}."""
    number = os.environ.get(SEED, '0')
    replay = f'{SEED}={number} {sample.replay()} stestr --test-path tests/functional run {test_id}'
    failure = {'printed': '', 'replay': replay}
    try:
        return {**failure, **_connection().play(f'{number} {test_id}')}
    except OSError as error:
        # The next test has another.
        _connection.cache_clear()
        return {**failure, 'failure': f'{error}; {_end()}'}


@functools.cache
def _connection():
    return Connection(os.environ.get(SHARED) or running().address)


def _end():
    """End the interpreter of this process; return in words how it ended."""
    if os.environ.get(SHARED):
        return 'it was shared with other processes'
    status = running().end()
    running.cache_clear()
    return f'exit status {status}'


@functools.cache
def running():
    """The one of this process."""
    return Interpreter()


class Connection:
    """A connection to the interpreter at an address."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(address)
        self._answers = self._socket.makefile()

    def play(self, seed):
        """{'failure', 'printed'} of a seed: a number and the id of a test."""
        self.send(seed)
        line = self._answers.readline()
        if not line:
            raise OSError('The interpreter that plays tests has ended')
        return json.loads(line)

    def send(self, seed):
        """Start the test of a seed."""
        self._socket.sendall(f'{seed}\n'.encode())

    def close(self):
        """Leave; a test that is played ends."""
        self._answers.close()
        self._socket.close()


class Interpreter:
    """A process that plays tests for all who connect. It ends with this one.

    process: a Popen; address: of its socket
    """

    def __init__(self):
        self._root = directories.new()
        self.address = os.path.join(self._root, 'player')
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen()
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'tests.sim.cases', str(listener.fileno()), self._root],
                cwd=sample.TOP,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                env={**os.environ, 'PYTHONHASHSEED': '0', sample.VARIABLE: str(sample.number())},
            )

    def end(self):
        """End the process. Return its exit status."""
        self.process.stdin.close()
        status = self.process.wait()
        # It removes its files itself, unless it was killed.
        shutil.rmtree(self._root, ignore_errors=True)
        return status


def main(command):
    """Run a command whose processes share an interpreter; return its exit status."""
    started = Interpreter()
    try:
        variables = {SHARED: started.address, sample.VARIABLE: str(sample.number())}
        return subprocess.call(command, env={**os.environ, **variables})
    finally:
        started.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
