"""stestr, whose workers are forks of one process that has imported the tests once.

    python -m tools.forked --test-path tests/unit run

takes the commands and options of stestr; the path must be given. The default of `--concurrency` is
one and a half times the number of processors, because tests wait for a third of their time.

stestr starts an interpreter that lists the tests and an interpreter for each worker, and each
interpreter imports all modules of tests. Here the process that runs stestr imports the modules
once, and the garbage collectors of its workers pass over the imported objects. Programs that tests
start with `tests.fixtures.forking` are forks of the same process, too.
"""

import atexit
from collections.abc import Callable
import contextlib
import fcntl
import functools
import gc
import io
import logging
import os
import shlex
import sys
import typing
import unittest

from stestr import cli
from stestr import scheduler
from stestr import test_processor
from stestr.repository import file as repository
from stestr.subunit_runner import program
from stestr.subunit_runner import run

from nova_lite import runtime
from tests.fixtures import imported
from tools import sample

# Directories of tests of which a third of the modules run with each commit, see tools/sample.py.
DIVIDED = (os.path.join('tests', 'functional'),)
# The command that stestr starts, before the options: discover -t TOP PATH.
COMMAND = ('-m', 'stestr.subunit_runner.run', 'discover', '-t')


class Loader(unittest.TestLoader):
    """Imports the tests of a directory once, before there are workers.

    end_parent: ends the process whose forks are programs of the tests
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[tuple[str, str, str | None], unittest.TestSuite] = {}
        self.end_parent: Callable[[], object] = lambda: None

    def discover(
        self, start_dir: str, pattern: str = 'test*.py', top_level_dir: str | None = None
    ) -> unittest.TestSuite:
        key = start_dir, pattern, top_level_dir
        if key not in self._found:
            suite = super().discover(*key)
            divides = os.path.normpath(start_dir) in DIVIDED
            self._found[key] = sample.modules_in_turn(suite) if divides else suite
            # A thread would be missing in each worker, and would never release its locks.
            if runtime.active_threads() != 1:
                raise AssertionError('a module started a thread when it was imported')
            self._prepare()
            gc.collect()
            gc.freeze()
            self.end_parent = imported.share()
        return self._found[key]

    @staticmethod
    def _prepare() -> None:
        """Prepare the examples of hypothesis once for all workers, if there are tests with them."""
        examples = sys.modules.get('tests.fixtures.examples')
        if examples is not None:
            examples.prepare()


LOADER = Loader()


class Worker:
    """A fork that runs a command of stestr, with the attributes of a process that stestr uses.

    stdout: the output of the worker; stdin: for stestr to close
    started: all workers of this process
    """

    started: 'typing.ClassVar[list[Worker]]' = []

    def __init__(self, arguments: list[str]) -> None:
        reading, writing = os.pipe()
        # Unbuffered: stestr would detach a buffer.
        self.stdout = os.fdopen(reading, 'rb', 0)
        self.stdin = io.BytesIO()
        self.started.append(self)
        # Both processes would write the text in the buffers.
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            _become(arguments, writing)
        os.close(writing)

    @functools.cached_property
    def returncode(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def wait(self) -> int:
        """Wait until the worker has ended. Return its exit status."""
        return self.returncode


def _become(arguments: list[str], output: int) -> typing.NoReturn:
    """Run as an interpreter that stestr has started, and end as it does."""
    status = 1
    try:
        with contextlib.ExitStack() as last:
            last.callback(sys.stderr.flush)
            last.callback(sys.stdout.flush)
            last.callback(atexit._run_exitfuncs)
            # A worker whose reader has ended would wait while another process could read.
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
        # stestr, whose frames are on the stack, must not clean up here.
        try:
            if status:
                _report()
        finally:
            os._exit(status)


def _report() -> None:
    """Print the error in progress."""
    kind, error, traceback = sys.exc_info()
    if kind is not None and error is not None:
        sys.excepthook(kind, error, traceback)


class Processor(test_processor.TestProcessorFixture):  # type: ignore[misc]  # is not typed
    """Lists tests in this process, and starts workers as forks of it."""

    def list_tests(self) -> list[str]:
        found, failed = program.list_test(_discover(self.list_cmd))
        # Run by itself, the command prints the errors.
        return list(super().list_tests() if failed else found)

    def _start_process(self, cmd: str) -> typing.Any:
        if cmd == self.list_cmd:
            return super()._start_process(cmd)
        _discover(cmd)
        return Worker(_arguments(cmd))


def _arguments(command: str) -> list[str]:
    """Return the words of a command after the words of the interpreter."""
    words = shlex.split(command)
    if tuple(words[1:5]) != COMMAND:
        raise AssertionError(f'stestr has another command: {command}')
    return words[2:]


def _discover(command: str) -> unittest.TestSuite:
    top, path = _arguments(command)[3:5]
    return LOADER.discover(path, top_level_dir=top)


def _alone(function: Callable[..., typing.Any]) -> Callable[..., typing.Any]:
    """Return the function so that one process at a time runs it in a directory.

    stestr does not lock the files with the times of tests, and one run may begin or end while
    another one ends.
    """
    # A program of a test may be this one, and is a fork that has the replaced functions.
    if hasattr(function, '__wrapped__'):
        return function

    @functools.wraps(function)
    def run_alone(*args: typing.Any, **options: typing.Any) -> typing.Any:
        directory = os.open(os.curdir, os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            return function(*args, **options)
        finally:
            os.close(directory)

    return run_alone


class Application(cli.StestrCLI):  # type: ignore[misc]  # is not typed
    """The commands of stestr, without the log of the tests."""

    LOG = logging.getLogger('stestr')

    def configure_logging(self) -> None:
        """Print the errors of commands."""
        self.LOG.addHandler(logging.StreamHandler())


def workers() -> int:
    """Return the number of workers if none, or 0, is given."""
    return (3 * (os.cpu_count() or 1) + 1) // 2


def main() -> int:
    """Run stestr. Return its exit status, or 1 if a worker failed, which stestr does not check."""
    test_processor.TestProcessorFixture = Processor
    scheduler.local_concurrency = workers
    repository.Repository._get_test_times = _alone(repository.Repository._get_test_times)
    repository._Inserter.stopTestRun = _alone(repository._Inserter.stopTestRun)
    status: int = Application().run(sys.argv[1:])
    for code in filter(None, [worker.wait() for worker in Worker.started]):
        print(f'A worker ended with exit status {code}', file=sys.stderr)
        status = status or 1
    LOADER.end_parent()
    return status


if __name__ == '__main__':
    sys.exit(main())
