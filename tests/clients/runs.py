"""Runs of a suite, in a virtual environment that has the clients and their tests."""

from importlib import metadata
import os
import subprocess

from tests.tempest import results
from tests.tempest import runs

PROGRAMS = 'NOVA_LITE_TEST_CLIENTS'
WHERE = """
import importlib.metadata, sysconfig
print(importlib.metadata.version({distribution!r}))
print(sysconfig.get_path('purelib'))
"""


class Installed(runs.Programs):
    """A suite as installed in an environment.

    variables: that describe the cloud; PATH leads to the clients
    """

    def __init__(self, suite, programs, directory, variables):
        super().__init__(programs, directory, **{**variables, **suite.environment})
        self.suite = suite
        self.directory.mkdir(parents=True, exist_ok=True)
        asked = WHERE.format(distribution=suite.distribution)
        self.version, self.packages = self.output('python', '-c', asked).split()

    def problems(self, version):
        """Return a line unless tests and programs are of the version that is expected."""
        found = {self.version, *self._own_version()}
        if found == {version}:
            return []
        return [f'VERSION {self.suite.distribution}: {sorted(found)}, expected {version}']

    def _own_version(self):
        """Return the version of the programs that the tests start, if they do."""
        if not self.suite.starts_clients:
            return []
        return [metadata.version(self.suite.distribution)]


class Tests(Installed):
    """The tests of a package, run by stestr."""

    def list(self, regex):
        """Return the names of the tests of the suite that match."""
        if not (self.directory / '.stestr').exists():
            self.output('stestr', 'init')
        listed = self.output('stestr', *self._where(), 'list', self.suite.regex)
        ids = [line for line in listed.splitlines() if '.tests.functional.' in line]
        return sorted({results.bare(each) for each in ids if regex is None or regex.search(each)})

    def run(self, names):
        """Run tests; their progress goes to the file `output`."""
        chosen = self.directory / 'chosen'
        chosen.write_text(''.join(f'{name}\n' for name in names))
        concurrency = str(self.suite.concurrency)
        words = ('run', '--load-list', str(chosen), '--concurrency', concurrency)
        with open(self.directory / 'output', 'w') as output:
            subprocess.run(
                self.command('stestr', *self._where(), *words),
                cwd=self.directory,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _where(self):
        return (
            *('--test-path', os.path.join(self.packages, self.suite.path)),
            *('--top-dir', self.packages),
            *('--group-regex', self.suite.together),
        )
