"""stestr, whose workers are forks of one process that has imported the tests once.

    python -m tools.forked --test-path tests/unit run

takes the commands and options of stestr; the path must be given. The default of
`--concurrency` is one and a half times the number of processors: tests wait for a third of
their time.

stestr starts an interpreter that lists the tests and one for each worker, and each of them
imports all modules of tests. Here the process that runs stestr does so, and the garbage
collectors of its workers pass over what it has imported. Programs that tests start with
`tests.fixtures.forking` are its forks, too.
"""

import atexit
import contextlib
import functools
import gc
import io
import logging
import os
import shlex
import sys
import unittest

from stestr import cli
from stestr import scheduler
from stestr import test_processor
from stestr.subunit_runner import program
from stestr.subunit_runner import run

from nova_lite import runtime
from tests.fixtures import imported

# What stestr starts, before the options: discover -t TOP PATH.
COMMAND = ('-m', 'stestr.subunit_runner.run', 'discover', '-t')


class Loader(unittest.TestLoader):
    """Imports the tests of a directory once, before there are workers.

    end_parent: ends the process whose forks are programs of the tests
    """

    def __init__(self):
        super().__init__()
        self._found = {}
        self.end_parent = lambda: None

    def discover(self, start_dir, pattern='test*.py', top_level_dir=None):
        key = start_dir, pattern, top_level_dir
        if key not in self._found:
            self._found[key] = super().discover(*key)
            # A thread would be missing in each worker, and with it the locks that it holds.
            if runtime.active_threads() != 1:
                raise AssertionError('a module started a thread when it was imported')
            self._prepare()
            gc.collect()
            gc.freeze()
            self.end_parent = imported.share()
        return self._found[key]

    @staticmethod
    def _prepare():
        """Do what each worker would have to do, if there are tests that need it."""
        examples = sys.modules.get('tests.fixtures.examples')
        if examples is not None:
            examples.prepare()


LOADER = Loader()


class Worker:
    """A fork that runs a command of stestr; it has what stestr asks of a process.

    stdout: what the worker prints, to read; stdin: to close
    started: all of this process
    """

    started = []

    def __init__(self, arguments):
        reading, writing = os.pipe()
        # Unbuffered: stestr would take a buffer away.
        self.stdout = os.fdopen(reading, 'rb', 0)
        self.stdin = io.BytesIO()
        self.started.append(self)
        # What waits to be written would be written by both.
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            _become(arguments, writing)
        os.close(writing)

    @functools.cached_property
    def returncode(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def wait(self):
        """Return the exit status when the worker has ended."""
        return self.returncode


def _become(arguments, output):
    """Be what an interpreter is that stestr starts, and end as it does."""
    status = 1
    try:
        with contextlib.ExitStack() as last:
            last.callback(sys.stderr.flush)
            last.callback(sys.stdout.flush)
            last.callback(atexit._run_exitfuncs)
            # One whose reader has ended would wait while another could read.
            for worker in Worker.started:
                worker.stdout.close()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.close(output)
            sys.argv = arguments
            runner = functools.partial(run.SubunitTestRunner, stdout=sys.stdout)
            program.TestProgram(module=None, argv=arguments, testRunner=runner, testLoader=LOADER)
        status = 0
    finally:
        # The stack is stestr's, which must not clean up here.
        try:
            if status:
                sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)


class Processor(test_processor.TestProcessorFixture):
    """Lists tests in this process, and starts workers as forks of it."""

    def list_tests(self):
        found, failed = program.list_test(_discover(self.list_cmd))
        # Started by itself, the command says what is wrong.
        return super().list_tests() if failed else found

    def _start_process(self, cmd):
        if cmd == self.list_cmd:
            return super()._start_process(cmd)
        _discover(cmd)
        return Worker(_arguments(cmd))


def _arguments(command):
    """The words of a command after the interpreter's own."""
    words = shlex.split(command)
    if tuple(words[1:5]) != COMMAND:
        raise AssertionError(f'stestr has another command: {command}')
    return words[2:]


def _discover(command):
    top, path = _arguments(command)[3:5]
    return LOADER.discover(path, top_level_dir=top)


class Application(cli.StestrCLI):
    """The commands of stestr, which log nothing of what the tests log."""

    LOG = logging.getLogger('stestr')

    def configure_logging(self):
        """Print what commands say of their errors."""
        self.LOG.addHandler(logging.StreamHandler())


def workers():
    """Return how many there are if no number is given, or 0."""
    return (3 * os.cpu_count() + 1) // 2


def main():
    """Return the exit status of stestr, which looks at no exit status itself."""
    test_processor.TestProcessorFixture = Processor
    scheduler.local_concurrency = workers
    status = Application().run(sys.argv[1:])
    for code in filter(None, [worker.wait() for worker in Worker.started]):
        print(f'A worker ended with exit status {code}', file=sys.stderr)
        status = status or 1
    LOADER.end_parent()
    return status


if __name__ == '__main__':
    sys.exit(main())
