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

TESTTOOLS = units.ROOT / 'doc' / 'examples' / 'testtools'
EXAMPLE = units.ROOT / 'doc' / 'examples' / 'pytest'
LIMIT_S = 300
MISSING = 'No cloud runs in'


class PluginTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.temporary = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def pytest(self, *options, code=0, **variables):
        """Run the example; return what pytest prints."""
        self.useFixture(fixtures.EnvironmentVariable('NOVA_LITE_STATE', None))
        environment = {**os.environ, 'TMPDIR': str(self.temporary), **variables}
        done = subprocess.run(
            [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', *options, str(EXAMPLE)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_two_workers(self):
        """They share clouds; none of them, and no file, stays."""
        printed = self.pytest('-n', '2', NOVA_LITE_SERVERS='4')
        self.assertIn('9 passed', printed)
        self.assertEqual([], list(self.temporary.glob('nova-lite-*')))

    def test_a_cloud_that_runs_already(self):
        state_dir = str(self.temporary / 'state')
        self.addCleanup(commands.run, 'stop', '--state-dir', state_dir)
        options = ('--detach', '--port', '0', '--state-dir', state_dir, '--profile', 'instant')
        code, _printed, errors = forking.run([commands.MODULE, 'up', *options], timeout_s=LIMIT_S)
        self.assertEqual(0, code, errors)
        printed = self.pytest(
            *('-n', '2', '-k', 'project or administrator'),
            NOVA_LITE_SERVERS='6',
            NOVA_LITE_STATE=state_dir,
        )
        self.assertIn('7 passed', printed)
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
            '-k', 'administrator', code=1, NOVA_LITE_STATE=str(self.temporary / 'nothing')
        )
        self.assertIn(MISSING, printed)

    def test_a_failure_that_no_profile_has(self):
        (self.temporary / 'test_wrong.py').write_text(WRONG)
        printed = self.pytest(str(self.temporary), '-k', 'wrong', code=1)
        self.assertIn('failures[0].verb', printed)


WRONG = """
import pytest

@pytest.mark.nova_lite_failure('sprout')
def test_wrong(nova_lite_project):
    pass
"""
