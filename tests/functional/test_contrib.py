"""The script parts of contrib/, run as GitHub and GitLab do.

GitHub's installs a wheel in a new virtual environment, whose programs are interpreters. In
GitLab's a program stands for the installed one that has imported the package.
"""

import json
import os
import pathlib
import re
import shlex
import sys

import fixtures
import testtools
import yaml

from nova_lite.cmd import main
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running
from tests.fixtures import units
from tests.fixtures import warm_programs
from tests.fixtures import wheel
from tools import sample

CONTRIB = units.ROOT / 'contrib'
EXAMPLE = CONTRIB / 'github' / 'example.yml'
STOP_S = 60
GUIDE = units.ROOT / 'doc' / 'source' / 'howto' / 'ci.rst'
# The environment of the tests has the program `openstack`.
INSTALLATION = 'pip install python-openstackclient'
# What a job prints that boots a server, verifies the cloud and resets it.
PRINTED = r'(?s)\bACTIVE\b.*No invariant is violated\.\nReset to state fresh in \d+ ms\n\Z'


@sample.in_turns(2)
class ContribTest(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheel = wheel.Wheel()
        cls.wheel.setUp()
        cls.addClassCleanup(cls.wheel.cleanUp)
        directory = fixtures.TempDir()
        directory.setUp()
        cls.addClassCleanup(directory.cleanUp)
        cls.top = pathlib.Path(directory.path)

    def setUp(self):
        super().setUp()
        # `openstack` of the environment of the tests
        warm = warm_programs.WarmPrograms(os.path.dirname(sys.executable), ['openstack'])
        self.warm = self.useFixture(warm)
        self.path = f'{warm.directory}{os.pathsep}{os.environ["PATH"]}'

    def stop_at_end(self, state_dir):
        """The cloud in this directory does not outlive the test."""
        self.addCleanup(running.stop, str(state_dir), STOP_S)

    def run_script(self, script, variables):
        """Run a script as GitHub and GitLab do; return what it prints."""
        done = self.warm.run(
            ['bash', '-e', '-o', 'pipefail', '-c', script],
            variables,
            environment=self.wheel.environment,
            directory=self.top,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def script_of(self, lines):
        """Return the script of a job whose client is already installed."""
        lines = list(lines)
        lines.remove(INSTALLATION)
        self.assertIn('nova-lite reset', lines)
        return '\n'.join(lines)

    def test_github_action(self):
        action = yaml.safe_load((CONTRIB / 'github' / 'action.yml').read_text())
        inputs = {name: each['default'] for name, each in action['inputs'].items()}
        inputs |= {'package': str(self.wheel.path), 'options': '--cells 1 --hosts 1'}
        files = {name: self.top / name for name in ('GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT')}
        variables = {
            'RUNNER_TEMP': str(self.top),
            'GITHUB_ACTION_PATH': str(CONTRIB / 'github'),
            **{name: str(path) for name, path in files.items()},
        }
        self.stop_at_end(self.top / 'nova-lite')
        self.wheel.write_python(self.warm.directory)
        for step in action['runs']['steps']:
            given = {name: _filled(value, inputs) for name, value in step['env'].items()}
            printed = self.run_script(step['run'], {**variables, **given})
        found = dict(line.split('=', 1) for line in files['GITHUB_ENV'].read_text().splitlines())
        self.assertIn(f'::add-mask::{found["OS_PASSWORD"]}\n', printed)
        self.assertEqual(f'state-dir={self.top}/nova-lite\n', files['GITHUB_OUTPUT'].read_text())
        path = os.pathsep.join([files['GITHUB_PATH'].read_text().strip(), self.path])
        steps = yaml.safe_load(EXAMPLE.read_text())['jobs']['test']['steps']
        printed = self.run_script(
            self.script_of(step['run'] for step in steps if 'run' in step),
            {**variables, **found, 'PATH': path},
        )
        self.assertRegex(printed, PRINTED)

    def test_github_workflow(self):
        """It passes the action no input and asks it for no output that the action lacks."""
        action = yaml.safe_load((CONTRIB / 'github' / 'action.yml').read_text())
        text = EXAMPLE.read_text()
        steps = yaml.safe_load(text)['jobs']['test']['steps']
        (step,) = (each for each in steps if 'nova_lite' in each.get('uses', ''))
        self.assertEqual(set(), set(step.get('with', {})) - set(action['inputs']))
        asked = set(re.findall(rf'steps\.{step["id"]}\.outputs\.([\w-]+)', text))
        self.assertEqual({'state-dir'}, asked)
        self.assertEqual(asked, set(action['outputs']))

    def test_gitlab_include(self):
        path = CONTRIB / 'gitlab' / 'nova-lite.gitlab-ci.yml'
        job = yaml.safe_load(path.read_text())['.nova-lite']
        variables = {'CI_PROJECT_DIR': str(self.top)}
        for name, value in job['variables'].items():
            variables[name] = value.replace('$CI_PROJECT_DIR', str(self.top))
        variables['NOVA_LITE_PACKAGE'] = str(self.wheel.path)
        source = os.path.dirname(sys.executable)
        installed = self.useFixture(warm_programs.WarmPrograms(source, ['nova-lite']))
        self.wheel.write_python(self.warm.directory, installed.directory / 'nova-lite')
        self.stop_at_end(variables['NOVA_LITE_STATE'])
        block = GUIDE.read_text().split('\nGitLab\n===')[1].split('code-block:: yaml\n\n')[1]
        client = yaml.safe_load(block.split('\n\n')[0])['client']
        self.assertEqual('.nova-lite', client['extends'])
        script = self.script_of(client['script'])
        printed = self.run_script('\n'.join([*job['before_script'], script]), variables)
        self.assertRegex(printed, PRINTED)
        self.assertTrue((self.top / job['artifacts']['paths'][0]).is_dir())
        self.run_script('\n'.join(job['after_script']), variables)
        self.assertIsNone(lock.holder(variables['NOVA_LITE_STATE']))

    def test_containerfile(self):
        """Its command is one of nova-lite; an image is not built here."""
        lines = (CONTRIB / 'container' / 'Containerfile').read_text().splitlines()
        self.assertIn('ENTRYPOINT ["nova-lite"]', lines)
        command = json.loads(lines[-1].removeprefix('CMD '))
        self.assertEqual('0.0.0.0', main.parser(command[:1]).parse_args(command).listen)
        for path in re.findall(r'/usr/src/nova_lite/(\S+)', '\n'.join(lines)):
            self.assertTrue((units.ROOT / shlex.split(path)[0]).exists(), path)


def _filled(value, inputs):
    """A value of `env` with the inputs that it names."""
    return re.sub(r'\$\{\{ inputs\.([\w-]+) \}\}', lambda match: inputs[match[1]], value)
