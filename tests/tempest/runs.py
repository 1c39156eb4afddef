"""Runs of Tempest as a process of its own virtual environment."""

import os
import pathlib
import subprocess

from tests.tempest import results

PROGRAMS = 'NOVA_LITE_TEST_TEMPEST'
COMPUTE = r'^tempest\.(serial_tests\.)?api\.compute\.'


class Programs:
    """Programs of a virtual environment, run in one directory.

    programs: their directory; directory: where they run and results go
    variables: of their environment, besides this process's own
    """

    def __init__(self, programs, directory, **variables):
        self.programs = pathlib.Path(programs).absolute()
        self.directory = pathlib.Path(directory).absolute()
        self.environment = {
            **os.environ,
            'PYTHON': str(self.programs / 'python'),
            'PYTHONWARNINGS': 'ignore',
            **variables,
        }

    def command(self, program, *arguments):
        """Return the words of a command."""
        return [str(self.programs / program), *arguments]

    def output(self, program, *arguments):
        """Return what a command prints."""
        return subprocess.run(
            self.command(program, *arguments),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def results(self, names):
        """Return {test: results.Result} of the last run of stestr."""
        with subprocess.Popen(
            self.command('stestr', 'last', '--subunit'),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
        ) as process:
            return results.read(process.stdout, names)


class Tempest(Programs):
    """Tempest as installed in an environment. directory: where tempest.conf is, too"""

    def __init__(self, programs, directory):
        path = os.pathsep.join((str(pathlib.Path(programs).absolute()), os.environ['PATH']))
        super().__init__(programs, directory, PATH=path)

    def version(self):
        """Return the version that is installed."""
        return self.output('python', '-c', VERSION).strip()

    def list(self, regex):
        """Return the names of the tests that match."""
        if not (self.directory / '.stestr').exists():
            self.output('stestr', 'init')
        # Tempest writes it, with the path of the environment that it is in.
        (self.directory / '.stestr.conf').unlink(missing_ok=True)
        listed = self.output('tempest', 'run', *self._options(regex), '--list-tests')
        ids = [line for line in listed.splitlines() if line.startswith('tempest.')]
        return sorted({results.bare(each) for each in ids})

    def run(self, regex, *, concurrency):
        """Run the tests that match; their progress goes to the standard output."""
        words = ('run', *self._options(regex), '--concurrency', str(concurrency))
        subprocess.run(self.command('tempest', *words), cwd=self.directory, env=self.environment)

    def _options(self, regex):
        return '--config-file', str(self.directory / 'tempest.conf'), '--regex', regex


VERSION = "import importlib.metadata as found; print(found.version('tempest'))"
