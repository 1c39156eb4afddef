"""The pytest plugin with the example of the documents, run by pytest itself."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import running
from nova_lite.lab.testing import clouds
from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import units
from tests.fixtures import warm_plugin
from tests.fixtures import warm_programs
from tools import sample

TESTTOOLS = units.ROOT / 'doc' / 'examples' / 'testtools'
EXAMPLE = units.ROOT / 'doc' / 'examples' / 'pytest'
PYTEST = ('pytest', '-p', 'no:cacheprovider')
LIMIT_S = 300
MISSING = 'No cloud runs in'
# Each cloud of a run; the example asks for six hosts.
SIZE = ('-o', 'nova_lite_up=--cells 1 --hosts 6')


@sample.in_turns(5)
class PluginTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def run_warm(self, command, *, code=0, directory=None, **variables):
        """Run a module that has been imported, and its arguments; return what it prints."""
        found, out, errors = forking.run(
            command,
            env={**os.environ, 'TMPDIR': str(self.temporary), **variables},
            directory=directory,
            timeout_s=LIMIT_S,
        )
        self.assertEqual(code, found, out + errors)
        return out + errors

    def pytest(self, *options, **others):
        """Run the example; return what pytest prints."""
        return self.run_warm([*PYTEST, *options, str(EXAMPLE)], **others)

    def variables(self):
        """With which the plugin warm_plugin starts clouds that have been imported, too."""
        source = os.path.dirname(sys.executable)
        warm = self.useFixture(warm_programs.WarmPrograms(source, ['nova-lite']))
        return warm_plugin.variables(warm)

    def test_two_workers(self):
        """They share clouds; none of them, and no file, stays."""
        printed = self.pytest(
            *('-n', '2', '-p', warm_plugin.NAME, *SIZE),
            NOVA_LITE_SERVERS='4',
            **self.variables(),
        )
        self.assertIn('13 passed', printed)
        self.assertEqual([], list(self.temporary.glob('nova-lite-*')))

    def test_a_cloud_that_runs_already(self):
        state_dir = str(self.temporary / 'state')
        self.addCleanup(commands.run, 'stop', '--state-dir', state_dir)
        options = ('--detach', '--port', '0', '--state-dir', state_dir, '--profile', 'instant')
        code, _printed, errors = commands.forked(['up', *options], timeout_s=LIMIT_S)
        self.assertEqual(0, code, errors)
        printed = self.pytest(
            *('-k', 'project or administrator'), NOVA_LITE_SERVERS='2', NOVA_LITE_STATE=state_dir
        )
        self.assertIn('3 passed', printed)
        # An interpreter that has imported nothing before.
        done = subprocess.run(
            [sys.executable, '-m', *PYTEST, '-W', 'error', '-k', 'environment', str(EXAMPLE)],
            env={**os.environ, 'NOVA_LITE_STATE': state_dir},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertIn('1 passed', done.stdout + done.stderr)
        cloud = clouds.Cloud(state_dir, running.read(state_dir))
        names = {each['name'] for each in cloud.requests.list('identity', '/projects')}
        self.assertEqual({'admin', 'demo', 'service'}, names)
        servers = cloud.requests.list('compute', '/servers', all_tenants=True)
        self.assertEqual([], servers)
        code, printed, _errors = commands.run('verify', '--state-dir', state_dir)
        self.assertEqual(0, code, printed)

    def test_testtools(self):
        """The cloud of the fixture ends with the process."""
        command = ['testtools.run', warm_plugin.NAME, 'test_servers']
        printed = self.run_warm(command, directory=TESTTOOLS, **self.variables())
        self.assertRegex(printed, r'Ran 1 test in [\d.]+s\nOK')
        self.assertEqual([], list(self.temporary.iterdir()))

    def test_no_cloud_where_the_variable_says(self):
        printed = self.pytest(
            *('-k', 'administrator'),
            code=1,
            NOVA_LITE_STATE=str(self.temporary / 'nothing'),
        )
        self.assertIn(MISSING, printed)

    def test_wrong_arguments(self):
        """A failure that no profile has, and a snapshot that is not there."""
        (self.temporary / 'test_wrong.py').write_text(WRONG)
        printed = self.pytest(str(self.temporary), '-k', 'wrong', code=1)
        self.assertIn('failures[0].verb', printed)
        self.assertIn("No such file or directory: '/nowhere/a.snapshot'", printed)


WRONG = """
import pytest

@pytest.mark.nova_lite_failure('sprout')
def test_wrong(nova_lite_project):
    pass

def test_wrong_snapshot(nova_lite_snapshot):
    nova_lite_snapshot('/nowhere/a.snapshot')
"""
