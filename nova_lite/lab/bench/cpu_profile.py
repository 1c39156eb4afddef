"""CPU time of a benchmark by part of the code, from samples that py-spy takes of all daemons.

A sample is the stack of a thread that holds the lock of the interpreter. It counts for the part of
nova_lite, or of a library, whose code the thread runs.
"""

import argparse
import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import typing

from nova_lite import exception
from nova_lite import runtime

PROGRAM = 'py-spy'
RATE = 100  # samples a second
STARTED, FOREIGN = 'Sampling process', 'No python processes found'
END_S = 60
OURS, OTHER = 'nova_lite/', 'other'
# Files whose frames are ignored: all parts call them and wait in them.
COMMON = (
    'nova_lite/context.py',
    'nova_lite/metrics.py',
    'nova_lite/runtime/__init__.py',
)
# Parts that a stack counts for if any of its frames is in their files.
CAUSES = {
    'journal': ('nova_lite/saga/journal.py', 'nova_lite/db/api/sagas.py'),
    'notifications': ('nova_lite/notify/',),
    'placement': ('placement/',),
}
# For other stacks, the innermost frame in these files or in the rest of nova_lite decides.
PARTS = {
    'statements': (
        'nova_lite/db/',
        'nova_lite/dialects/',
        'sqlalchemy/',
        'oslo_db/',
        'pymysql/',
        'psycopg/',
    ),
    'objects': ('nova_lite/objects/', 'oslo_versionedobjects/'),
    'HTTP': (
        'nova_lite/api/',
        'nova_lite/clients/',
        'nova_lite/daemons/wsgi/',
        'cheroot/',
        'falcon/',
        'gunicorn/',
        'keystoneauth1/',
        'keystonemiddleware/',
        'requests/',
        'urllib3/',
        'webob/',
    ),
    'RPC': ('nova_lite/rpc/', 'oslo_messaging/', 'kombu/', 'amqp/'),
}
# {part: number of samples}
Samples: typing.TypeAlias = collections.Counter[str]
_FRAME = re.compile(r'\(([^()]*?)(?::\d+)?\)$')


def program() -> str:
    """Return the path of py-spy. Raise Invalid if it is not installed."""
    places = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get('PATH', '')])
    found = shutil.which(PROGRAM, path=places)
    if found is None:
        raise exception.Invalid(
            reason=f'a profile needs {PROGRAM}. Install it with `pip install {PROGRAM}`'
        )
    return found


@contextlib.contextmanager
def prepared(args: argparse.Namespace) -> Iterator[None]:
    """Set args.sampler, which is None without `profile`, and args.scenario for the block.

    Raise Invalid if the scenario after `profile` is missing, or is given without `profile`.
    """
    if (args.scenario == 'profile') is not bool(args.profiled):
        raise exception.Invalid(
            reason='give one scenario, or `profile` and the scenario to profile'
        )
    args.sampler = Sampler() if args.profiled else None
    args.scenario = args.profiled or args.scenario
    try:
        yield
    finally:
        if args.sampler is not None:
            args.sampler.end()  # a scenario that failed has not called it


def part_of(stack: Sequence[str]) -> str:
    """Return the part that a stack counts for. stack: files of the frames, the outermost first"""
    for part, prefixes in CAUSES.items():
        if any(file.startswith(prefixes) for file in stack):
            return part
    for file in reversed(stack):
        for part, prefixes in PARTS.items():
            if file.startswith(prefixes):
                return part
        if file.startswith(OURS) and file not in COMMON:
            break
    return OTHER


def parts_of(lines: Iterable[str]) -> Samples:
    """Return the samples in the output of py-spy: lines of frames, joined by `;`, and a count."""
    found: Samples = collections.Counter()
    for line in lines:
        frames, _blank, count = line.rpartition(' ')
        if count.strip().isdigit():
            files = [match[1] for match in map(_FRAME.search, frames.split(';')) if match]
            found[part_of(files)] += int(count)
    return found


class Sampler:
    """Takes samples of processes and their children from `begin` to `end`."""

    def __init__(self) -> None:
        self._program = program()
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._readers: list[runtime.Thread] = []

    def begin(self, pids: Mapping[str, int]) -> None:
        """Start to sample processes. The caller must call `end`. pids: {name: process id}

        Programs in other languages, such as a database server, are not sampled. Raise Unavailable
        if py-spy cannot read a process.
        """
        self._directory = tempfile.TemporaryDirectory()
        for name, pid in pids.items():
            self._running[name] = self._start(name, pid)
        for name, running in self._running.items():
            lines = running.stdout or ()
            self._wait_started(name, lines)
            # py-spy prints lines for late samples, and would stop at a full pipe.
            self._readers.append(runtime.spawn(list, lines, name='py-spy-output'))

    def _start(self, name: str, pid: int) -> subprocess.Popen[str]:
        options = ['--gil', '--nonblocking', '--subprocesses', '--rate', str(RATE)]
        return subprocess.Popen(
            [
                *(self._program, 'record', '--pid', str(pid), *options),
                *('--format', 'raw', '--output', self._path(name)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _path(self, name: str) -> str:
        return os.path.join(self._directory.name if self._directory else '', name)

    def _wait_started(self, name: str, lines: Iterable[str]) -> None:
        seen = []
        for line in lines:
            seen.append(line.strip())
            if STARTED in line or FOREIGN in line:
                return
        reason = next(filter(None, seen), 'it ended')
        raise exception.Unavailable(service=f'{PROGRAM} for {name}', reason=reason)

    def end(self) -> dict[str, Samples]:
        """Stop sampling. Return {name: samples} of the processes that were sampled."""
        for running in self._running.values():
            running.send_signal(signal.SIGINT)  # a process that has ended is ignored
        found = {}
        for name, running in self._running.items():
            try:
                running.wait(END_S)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            with contextlib.suppress(FileNotFoundError), open(self._path(name)) as file:
                found[name] = parts_of(file)
        for reader in self._readers:
            reader.join()
        for running in self._running.values():
            if running.stdout is not None:
                running.stdout.close()
        self._running, self._readers = {}, []
        if self._directory is not None:
            self._directory.cleanup()
        return found
