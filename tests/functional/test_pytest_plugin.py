"""The pytest plugin with the example of the documents, run by pytest itself."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from nova_lite.launcher import running
from nova_lite.testing import clouds
from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import units
from tests.fixtures import warm_plugin
from tests.fixtures import warm_programs

TESTTOOLS = units.ROOT / 'doc' / 'examples' / 'testtools'
EXAMPLE = units.ROOT / 'doc' / 'examples' / 'pytest'
LIMIT_S = 300
MISSING = 'No cloud runs in'
# Each cloud of a run; the example asks for six hosts.
SIZE = ('-o', 'nova_lite_up=--cells 1 --hosts 6')


class PluginTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def pytest(self, *options, code=0, warm=False, **variables):
        """Run the example; return what pytest prints. warm: with what it imports imported"""
        environment = {**os.environ, 'TMPDIR': str(self.temporary), **variables}
        command = ['pytest', '-p', 'no:cacheprovider', *options, str(EXAMPLE)]
        if warm:
            found, out, errors = forking.run(command, env=environment, timeout_s=LIMIT_S)
        else:
            done = subprocess.run(
                [sys.executable, '-m', *command],
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
            found, out, errors = done.returncode, done.stdout, done.stderr
        self.assertEqual(code, found, out + errors)
        return out

    def test_two_workers(self):
        """They share clouds; none of them, and no file, stays."""
        source = os.path.dirname(sys.executable)
        warm = self.useFixture(warm_programs.WarmPrograms(source, ['nova-lite']))
        printed = self.pytest(
            *('-n', '2', '-p', warm_plugin.NAME, *SIZE),
            warm=True,
            NOVA_LITE_SERVERS='4',
            **warm_plugin.variables(warm),
        )
        self.assertIn('9 passed', printed)
        self.assertEqual([], list(self.temporary.glob('nova-lite-*')))

    def test_a_cloud_that_runs_already(self):
        state_dir = str(self.temporary / 'state')
        self.addCleanup(commands.run, 'stop', '--state-dir', state_dir)
        options = ('--detach', '--port', '0', '--state-dir', state_dir, '--profile', 'instant')
        code, _printed, errors = forking.run([commands.MODULE, 'up', *options], timeout_s=LIMIT_S)
        self.assertEqual(0, code, errors)
        printed = self.pytest(
            *('-k', 'project or administrator'),
            warm=True,
            NOVA_LITE_SERVERS='2',
            NOVA_LITE_STATE=state_dir,
        )
        self.assertIn('3 passed', printed)
        printed = self.pytest('-W', 'error', '-k', 'environment', NOVA_LITE_STATE=state_dir)
        self.assertIn('1 passed', printed)
        cloud = clouds.Cloud(state_dir, running.read(state_dir))
        names = {each['name'] for each in cloud.requests.list('identity', '/projects')}
        self.assertEqual({'admin', 'demo', 'service'}, names)
        servers = cloud.requests.list('compute', '/servers', all_tenants=True)
        self.assertEqual([], servers)
        code, printed, _errors = commands.run('verify', '--state-dir', state_dir)
        self.assertEqual(0, code, printed)

    def test_testtools(self):
        """The cloud of the fixture ends with the process."""
        done = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'testtools.run', 'test_servers'],
            env={**os.environ, 'TMPDIR': str(self.temporary)},
            cwd=TESTTOOLS,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual([], list(self.temporary.iterdir()))

    def test_no_cloud_where_the_variable_says(self):
        printed = self.pytest(
            *('-k', 'administrator'),
            code=1,
            warm=True,
            NOVA_LITE_STATE=str(self.temporary / 'nothing'),
        )
        self.assertIn(MISSING, printed)

    def test_wrong_arguments(self):
        """A failure that no profile has, and a snapshot that is not there."""
        (self.temporary / 'test_wrong.py').write_text(WRONG)
        printed = self.pytest(str(self.temporary), '-k', 'wrong', code=1, warm=True)
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
