"""Clouds for tests: started at their first use, shared by the processes of one test run.

Each is a `nova-lite up --detach` of its own. It ends with the process that the run belongs
to, also if that is killed.
"""

import atexit
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import typing

from openstack import connection

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.testing import admin_requests
from nova_lite.lab.testing import profiles
from nova_lite.lab.testing import unlimited_quotas

# nova_lite itself, by the interpreter of the tests: its commands may not be in the PATH.
COMMAND = (sys.executable, '-m', 'nova_lite.cmd.main')
# Of directories with clouds.
PREFIX = 'nova-lite-tests-'
STOP_S = 60.0


class NotStarted(exception.Unavailable):
    msg = 'Cannot start a cloud for tests: %(cause)s'


class NotRunning(exception.Unavailable):
    msg = (
        'No cloud runs in %(directory)s, which the variable NOVA_LITE_STATE names. Start it with '
        '`nova-lite up --detach`, or unset the variable: then the tests start one'
    )


@dataclasses.dataclass(frozen=True)
class Cloud:
    """A running cloud.

    state_dir: its directory. running: its launcher.running.Running
    is_unlimited: whether its services limit no project by default
    """

    state_dir: str
    running: running.Running
    is_unlimited: bool = False

    @property
    def compute_url(self) -> str:
        return self.running.compute_url

    @property
    def clouds_yaml(self) -> str:
        return self.running.clouds_yaml

    @functools.cached_property
    def requests(self) -> admin_requests.Services:
        """Plain requests of the administrator."""
        return admin_requests.Services(self.clouds_yaml)

    @functools.cached_property
    def member_role_id(self) -> str:
        (found,) = self.requests.list('identity', '/roles', name='member')
        return str(found['id'])

    @functools.cached_property
    def external_network_id(self) -> str | None:
        found = self.requests.list('network', '/networks', **{'router:external': True})
        return str(found[0]['id']) if found else None

    @functools.cached_property
    def admin(self) -> connection.Connection:
        """Return an openstacksdk Connection of the administrator."""
        made: connection.Connection = client_connections.connect(self.clouds_yaml)
        return made

    @functools.cached_property
    def control(self) -> control_client.Client:
        """Changes the clock, faults, breakpoints and saved states: get(NAME), post(NAME)."""
        return control_client.Client(self.state_dir)

    @contextlib.contextmanager
    def faults(self, entries: Iterable[Mapping[str, typing.Any]]) -> Iterator[None]:
        """Inject faults for the block. entries: as `POST /control/faults/add` takes them

        They are for all who use the cloud.
        """
        control, added = self.control, []
        try:
            for entry in entries:
                added.append(control.post('faults/add', **entry)['added'])
            yield
        finally:
            # A reset has removed them.
            left = {each['id'] for each in control.get('faults')['failures']} if added else set()
            for number in left.intersection(added):
                control.post('faults/clear', id=number)


def existing() -> Cloud | None:
    """Return the cloud that NOVA_LITE_STATE names, None without it. Raise NotRunning."""
    directory = os.environ.get(state_dir.VARIABLE)
    if not directory:
        return None
    found = running.read(directory)
    if found is None:
        raise NotRunning(directory=directory)
    return Cloud(os.path.abspath(directory), found)


class Clouds:
    """The clouds of a test run, in one directory, one for each profile.

    directory: shared by the processes of the run
    pid: the process with whose end the clouds end
    options: further options of `nova-lite up`
    """

    def __init__(self, directory: str, *, pid: int, options: Sequence[str] = ()) -> None:
        self._directory, self._pid, self._options = directory, pid, options
        self._known: dict[str, Cloud] = {}

    def get(
        self,
        profile: str = profiles.DEFAULT,
        failures: Iterable[Mapping[str, typing.Any]] = (),
        *,
        own: str = '',
    ) -> Cloud:
        """Return the cloud with this profile and these failures; start it if it is the first.

        own: name of the test or process that has a cloud to itself; empty for the shared one
        """
        text = profiles.extended(profile, failures)
        name = hashlib.sha256(f'{own}\n{text}'.encode()).hexdigest()[:12]
        if name not in self._known:
            directory = os.path.join(self._directory, name)
            with open(f'{directory}.lock', 'w') as lock:
                # Another process may be starting it.
                fcntl.flock(lock, fcntl.LOCK_EX)
                found = _started(directory) or self._start_with(directory, text)
            # Again: the process that started it may have been killed before.
            unlimited_quotas.lift_defaults(admin_requests.Services(found.clouds_yaml))
            self._known[name] = Cloud(directory, found, is_unlimited=True)
        return self._known[name]

    def fresh(self) -> Cloud:
        """Return a cloud of this process alone, as it was when it was new.

        Its default quotas have no limits. It is reset when it is asked for, since a process with
        the same id may have left it; its clock passes normally then, and stays advanced.
        """
        found = self.get(own=f'process {os.getpid()}, fresh')
        found.control.post('reset')
        unlimited_quotas.lift_defaults(found.requests)
        return found

    def continued(self, snapshot: str) -> Cloud:
        """Return a cloud that continues with a snapshot, as it was when that was taken.

        This process has one for each snapshot, which is reset when it is asked for again.
        snapshot: path of a file that `nova-lite snapshot save` has written
        """
        path = os.path.abspath(snapshot)
        key = f'{os.getpid()}\n{path}\n{os.stat(path).st_mtime_ns}'
        name = hashlib.sha256(key.encode()).hexdigest()[:12]
        directory = os.path.join(self._directory, name)
        if name in self._known:
            self._known[name].control.post('reset')
        else:
            self._known[name] = Cloud(directory, self._start(directory, '--from', path))
        return self._known[name]

    @contextlib.contextmanager
    def lent(
        self,
        profile: str,
        failures: Sequence[Mapping[str, typing.Any]],
        *,
        test: str,
        alone: bool = False,
    ) -> Iterator[Cloud]:
        """Yield a cloud with these failures for a test, named so.

        It is one of this process if a failure is counted, and the test's own, stopped afterwards,
        if one is by chance.
        alone: no other process uses the cloud
        """
        counted = [each for each in failures if profiles.is_counted(each)]
        others = [each for each in failures if not profiles.is_counted(each)]
        is_own = any(profiles.is_by_chance(each) for each in others)
        process = f'process {os.getpid()}' if alone or counted else ''
        cloud = self.get(profile, others, own=test if is_own else process)
        try:
            with cloud.faults(counted):
                yield cloud
        finally:
            if is_own:
                self.stop(cloud)

    def stop(self, cloud: Cloud) -> None:
        """Stop one of them and remove its files."""
        self._known = {key: each for key, each in self._known.items() if each != cloud}
        _remove(cloud.state_dir)

    def close(self) -> None:
        """Stop all clouds, also clouds of other processes, and remove the directory."""
        self._known.clear()
        for entry in os.scandir(self._directory):
            if entry.is_dir():
                _remove(entry.path)
        shutil.rmtree(self._directory)

    def _start_with(self, directory: str, profile: str) -> running.Running:
        """Start a cloud with the text of a profile."""
        path = f'{directory}.yaml'
        with open(path, 'w') as file:
            file.write(profile)
        return self._start(directory, '--profile', path, *self._options)

    def _start(self, directory: str, *options: str) -> running.Running:
        command = [*COMMAND, 'up', '--detach', '--port', '0', '--fresh', '--state-dir', directory]
        command += ['--until-exit', str(self._pid), *options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found: running.Running | None = running.read(directory)
        if done.returncode or found is None:
            raise NotStarted(cause=done.stderr.strip() or f'exit code {done.returncode}')
        return found


@functools.cache
def of_process() -> Clouds:
    """Return the clouds of this process, which are stopped at its end."""
    made = Clouds(tempfile.mkdtemp(prefix=PREFIX), pid=os.getpid())
    atexit.register(made.close)
    return made


def _started(directory: str) -> running.Running | None:
    """Return the cloud of a directory, once it is ready if it is starting; None without one.

    Who started it may have been killed.
    """
    until = runtime.monotonic() + STOP_S
    while lock.holder(directory) is not None and runtime.monotonic() < until:
        found: running.Running | None = running.read(directory)
        if found is not None:
            return found
        runtime.sleep(running.POLL_S)
    return None


def _remove(directory: str) -> None:
    running.stop(directory, STOP_S)
    shutil.rmtree(directory)
