"""CPU time of a benchmark by function: samples that py-spy takes of every daemon.

A sample is the stack of a thread that holds the interpreter's lock. It counts for the
part of nova_lite, or of a library, whose code it is in.
"""

import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from nova_lite import exception
from nova_lite import runtime

PROGRAM = 'py-spy'
RATE = 100  # samples a second
STARTED, FOREIGN = 'Sampling process', 'No python processes found'
END_S = 60
OURS, OTHER = 'nova_lite/', 'other'
# Called by all parts, and waited in by all.
COMMON = ('nova_lite/context.py', 'nova_lite/metrics.py', 'nova_lite/runtime.py')
# All that is done for these counts for them, the statements as well.
CAUSES = {
    'journal': ('nova_lite/saga/journal.py', 'nova_lite/db/api/sagas.py'),
    'notifications': ('nova_lite/notify/',),
    'placement': ('placement/',),
}
# Else the innermost frame decides that is of one of these or of the rest of nova_lite.
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
        'nova_lite/wsgi/',
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
_FRAME = re.compile(r'\(([^()]*?)(?::\d+)?\)$')


def program():
    """Return the path of py-spy. Raise Invalid if it is not installed."""
    places = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get('PATH', '')])
    found = shutil.which(PROGRAM, path=places)
    if found is None:
        raise exception.Invalid(
            reason=f'a profile needs {PROGRAM}. Install it with `pip install {PROGRAM}`'
        )
    return found


@contextlib.contextmanager
def prepared(args):
    """Give `args` its sampler, None without `profile`, and the scenario that is profiled.

    Raise Invalid when the scenario is missing, or when there is one without `profile`.
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
            args.sampler.end()  # a scenario that failed does not


def part_of(stack):
    """Return the part that a stack counts for: files of its frames, the outermost first."""
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


def parts_of(lines):
    """Return {part: samples} of what py-spy writes: frames, separated by `;`, and a count."""
    found = collections.Counter()
    for line in lines:
        frames, _blank, count = line.rpartition(' ')
        if count.strip().isdigit():
            files = [match[1] for match in map(_FRAME.search, frames.split(';')) if match]
            found[part_of(files)] += int(count)
    return found


class Sampler:
    """Takes samples of processes and their children from `begin` to `end`."""

    def __init__(self):
        self._program = program()
        self._directory = None
        self._running, self._readers = {}, []

    def begin(self, pids):
        """Return when each process is sampled; call `end`. pids: {name: process id}

        Leave out those of other languages, such as a database server. Raise Unavailable for
        a process that py-spy cannot read.
        """
        self._directory = tempfile.TemporaryDirectory()
        for name, pid in pids.items():
            self._running[name] = self._start(name, pid)
        for name, running in self._running.items():
            self._wait_started(name, running)
            # It prints a line for late samples, and stops at a full pipe that is not read.
            self._readers.append(runtime.spawn(list, running.stdout, name='py-spy-output'))

    def _start(self, name, pid):
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

    def _path(self, name):
        return os.path.join(self._directory.name, name)

    def _wait_started(self, name, running):
        seen = []
        for line in running.stdout:
            seen.append(line.strip())
            if STARTED in line or FOREIGN in line:
                return
        reason = next(filter(None, seen), 'it ended')
        raise exception.Unavailable(service=f'{PROGRAM} for {name}', reason=reason)

    def end(self):
        """Return {name: {part: samples}}, without processes that were not sampled."""
        for running in self._running.values():
            running.send_signal(signal.SIGINT)  # those that have ended are left alone
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
            running.stdout.close()
        self._running, self._readers = {}, []
        if self._directory is not None:
            self._directory.cleanup()
        return found
