"""The programs that are tested: where they come from, and how they are installed.

Each is installed in a directory of its own: a package of PyPI in a virtual environment, one of npm
below node_modules. Packages of Debian belong to the machine; bindep.txt lists them.
"""

import dataclasses
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
PACKAGES, INSIDE = HERE / 'packages', HERE / 'inside'
PYPI, NPM, DEBIAN = 'PyPI', 'npm', 'Debian'
VERSION = 'import importlib.metadata as found, sys; print(found.version(sys.argv[1]))'


@dataclasses.dataclass(frozen=True)
class Program:
    """One program. package: its name in its registry."""

    name: str
    package: str
    registry: str = PYPI

    @property
    def script(self):
        """Return the path of its cases."""
        suffix = {PYPI: 'py', NPM: 'js', DEBIAN: 'rb'}[self.registry]
        return INSIDE / f'{self.name}_cases.{suffix}'


PROGRAMS = {
    program.name: program
    for program in (
        Program('masakari', 'masakari'),
        Program('watcher', 'python-watcher'),
        Program('horizon', 'horizon'),
        Program('heat', 'openstack-heat'),
        Program('libcloud', 'apache-libcloud'),
        Program('fog', 'ruby-fog-openstack', DEBIAN),
        Program('pkgcloud', 'pkgcloud', NPM),
    )
}


class Installed:
    """A program as it is installed below a directory, anew if its pins have changed."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.binaries = directory / 'env' / 'bin'
        directory.mkdir(parents=True, exist_ok=True)
        {PYPI: self._from_pypi, NPM: self._from_npm, DEBIAN: self._from_debian}[program.registry]()

    def _needed(self, pins, place):
        """Return whether the pins differ from those of what is installed at a place."""
        known = place / pins.name
        return not known.exists() or known.read_bytes() != pins.read_bytes()

    def _from_pypi(self):
        pins, place = PACKAGES / f'{self.program.name}-requirements.txt', self.directory / 'env'
        if self._needed(pins, place):
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([sys.executable, '-m', 'venv', str(place)], check=True)
            subprocess.run([self.path('pip'), 'install', '-q', '-r', str(pins)], check=True)
            shutil.copy(pins, place)

    def _from_npm(self):
        pins, place = PACKAGES / 'package.json', self.directory
        if self._needed(pins, place):
            shutil.rmtree(place / 'node_modules', ignore_errors=True)
            shutil.copy(pins, place)
            words = ('install', '--silent', '--no-audit', '--no-package-lock')
            done = subprocess.run(['npm', *words], cwd=place)
            if done.returncode:
                (place / pins.name).unlink()
                done.check_returncode()

    def _from_debian(self):
        """Raise SystemExit if the package is not installed: that needs the rights of root."""
        package = self.program.package
        if subprocess.run(['dpkg-query', '-s', package], stdout=subprocess.DEVNULL).returncode:
            raise SystemExit(f'{self.program.name}: apt-get install {package}, and run it again')

    def path(self, name):
        """Return the path of a program of the environment."""
        return str(self.binaries / name)

    def version(self):
        """Return the version that is installed. Raise CalledProcessError if there is none."""
        if self.program.registry == PYPI:
            return _output(self.path('python'), '-c', VERSION, self.program.package)
        if self.program.registry == NPM:
            read = f'require({str(self.directory / "node_modules")!r} + "/pkgcloud/package.json")'
            return _output('node', '-p', f'{read}.version')
        return _output('dpkg-query', '-W', '-f', '${Version}', self.program.package)

    def command(self):
        """Return the command that runs its cases."""
        interpreter = {PYPI: self.path('python'), NPM: 'node', DEBIAN: 'ruby'}
        return [interpreter[self.program.registry], str(self.program.script)]


def _output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
