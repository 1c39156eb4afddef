"""Runs of Tempest as a process of its own virtual environment."""

import os
import pathlib
import subprocess

from tests.tempest import results

PROGRAMS = 'NOVA_LITE_TEST_TEMPEST'
COMPUTE = r'^tempest\.(serial_tests\.)?api\.compute\.'


class Tempest:
    """Tempest as installed in an environment.

    programs: its directory of programs; directory: where tempest.conf is, and results go
    """

    def __init__(self, programs, directory):
        self.programs = pathlib.Path(programs).absolute()
        self.directory = pathlib.Path(directory).absolute()
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith('OS_')},
            'PATH': os.pathsep.join((str(self.programs), os.environ['PATH'])),
            'PYTHON': str(self.programs / 'python'),
            'PYTHONWARNINGS': 'ignore',
        }

    def version(self):
        """Return the version that is installed."""
        return self._output('python', '-c', VERSION).strip()

    def list(self, regex):
        """Return the names of the tests that match."""
        if not (self.directory / '.stestr').exists():
            self._output('stestr', 'init')
        # Tempest writes it, with the path of the environment that it is in.
        (self.directory / '.stestr.conf').unlink(missing_ok=True)
        listed = self._output('tempest', 'run', *self._options(regex), '--list-tests')
        ids = [line for line in listed.splitlines() if line.startswith('tempest.')]
        return sorted({results.bare(each) for each in ids})

    def run(self, regex, *, concurrency):
        """Run the tests that match; their progress goes to the standard output."""
        subprocess.run(
            self._command(
                'tempest', 'run', *self._options(regex), '--concurrency', str(concurrency)
            ),
            cwd=self.directory,
            env=self.environment,
        )

    def results(self, names):
        """Return {test: results.Result} of the last run."""
        with subprocess.Popen(
            self._command('stestr', 'last', '--subunit'),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
        ) as process:
            return results.read(process.stdout, names)

    def _options(self, regex):
        return '--config-file', str(self.directory / 'tempest.conf'), '--regex', regex

    def _command(self, program, *arguments):
        return [str(self.programs / program), *arguments]

    def _output(self, program, *arguments):
        return subprocess.run(
            self._command(program, *arguments),
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout


VERSION = "import importlib.metadata as found; print(found.version('tempest'))"
