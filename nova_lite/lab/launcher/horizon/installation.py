"""The environment of Horizon below a state directory: created on request, from PyPI.

It is kept when a cloud is started with --fresh, and created again for other pins.
"""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import fcntl
import importlib.resources
import json
import os
import pathlib
import shutil
import sys
import typing

from nova_lite import exception
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import supervisor

PACKAGE = 'nova_lite.lab.launcher.horizon'
LEASHED = f'{PACKAGE}.leashed'
PINS, LOCK = 'requirements.txt', 'lock'
VARIABLE = 'NOVA_LITE_HORIZON'
# One more try, so that a machine without a network gets its answer soon.
PIP = ('install', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '20')
# Words of pip when an index does not answer, or has none of the packages.
UNREACHABLE = ('connection', 'from versions: none', 'no matching distribution', 'timed out')


class NotInstalled(exception.Unavailable):
    msg = (
        'Horizon cannot be installed in %(directory)s: %(reason)s. %(way_out)s; or omit '
        '`--with horizon`. The output of the installation is in %(log)s'
    )


class Environment:
    """The paths of an installed Horizon. places: of the cloud"""

    def __init__(self, places: layout.Layout) -> None:
        self.root = pathlib.Path(places.path(layout.HORIZON, 'env')).parent
        self.log_path = self.root / 'install.log'
        self._env = self.root / 'env'
        self._stamp = self._env / PINS

    @property
    def python(self) -> str:
        """Return the path of the interpreter."""
        return str(self._env / 'bin' / 'python')

    @property
    def script(self) -> str:
        """Return the path of the program that the interpreter runs."""
        return str(importlib.resources.files(PACKAGE).joinpath('inside', 'serve.py'))

    def variables(self, **settings: object) -> dict[str, str]:
        """Return the variables of the environment of a process. settings: for Horizon"""
        value = json.dumps({'static': str(self._env / 'static'), **settings})
        return {**os.environ, VARIABLE: value}

    def is_current(self) -> bool:
        """Return whether the environment is complete and has the pinned versions."""
        return self._stamp.exists() and self._stamp.read_text() == _stamp()

    def install(self, begin: Callable[[str], None]) -> None:
        """Create the environment. begin: called with the text of each step. Raise NotInstalled."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.root / LOCK, 'a') as lock:
            # The processes of an installation whose `up` was killed hold it until they have ended.
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._install(begin, lock.fileno())

    def _install(self, begin: Callable[[str], None], lock: int) -> None:
        # Without it the environment is not current, however much of it can be deleted.
        self._stamp.unlink(missing_ok=True)
        shutil.rmtree(self._env, ignore_errors=True)
        self.log_path.write_text('')
        begin('environment')
        self._run(lock, [sys.executable, '-m', 'venv', str(self._env)])
        begin('packages from PyPI')
        pins = importlib.resources.files(PACKAGE).joinpath(PINS)
        with importlib.resources.as_file(pins) as path:
            self._run(lock, [self.python, '-m', 'pip', *PIP, '-r', str(path)])
        begin('styles and scripts')
        building = self.variables(port=0, auth_url='', secret='build')
        self._run(lock, [self.python, self.script, 'build'], building)
        self._stamp.write_text(_stamp())

    def _run(
        self, lock: int, command: Sequence[str], variables: Mapping[str, str] = os.environ
    ) -> None:
        """Run a command; its output goes to the log. Raise NotInstalled."""
        with open(self.log_path, 'rb+') as log:
            begun = log.seek(0, os.SEEK_END)
            if run(command, log, variables=variables, files=(lock,)):
                log.seek(begun)
                raise self._failed(log.read().decode(errors='replace'))

    def _failed(self, output: str) -> NotInstalled:
        reason, way_out = explained(output)
        return NotInstalled(directory=self.root, reason=reason, way_out=way_out, log=self.log_path)


def run(
    command: Sequence[str],
    output: typing.IO[bytes],
    *,
    variables: Mapping[str, str] = os.environ,
    files: Sequence[int] = (),
) -> int:
    """Run a command, and return its exit code. All that it starts ends with this process.

    output, files: see `supervisor.spawn`
    """
    end, held = os.pipe()
    try:
        process = supervisor.spawn(
            [sys.executable, '-m', LEASHED, *command],
            output,
            end,
            variables=variables,
            files=files,
        )
        group = supervisor.Group(process)
        try:
            group.has_ended(None)
        finally:
            code = group.end()
        return code
    finally:
        os.close(end)
        os.close(held)


def explained(output: str) -> tuple[str, str]:
    """Return the reason of a failure and a way out. output: of the command that failed"""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix('ERROR: ') for line in lines if line.startswith('ERROR: ')]
    reason = [*(errors or lines[-1:]), 'its command failed'][0].rstrip('.')
    if any(words in output.lower() for words in UNREACHABLE):
        return reason, (
            'Let pip reach PyPI, through HTTPS_PROXY or an index of yours in PIP_INDEX_URL, and '
            'repeat the command'
        )
    return reason, 'Correct this, and repeat the command'


def _stamp() -> str:
    """Return the pins with the interpreter to which they belong."""
    pins = importlib.resources.files(PACKAGE).joinpath(PINS).read_text()
    return f'# {sys.executable} {sys.version}\n{pins}'
