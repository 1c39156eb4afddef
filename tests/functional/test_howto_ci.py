"""The commands of howto/ci.rst and of the README's three doors, run as they are."""

import os
import pathlib
import re
import sys
import textwrap

import fixtures
import testtools

from nova_lite.lab.launcher import running
from tests.fixtures import howto
from tests.fixtures import units
from tests.fixtures import warm_plugin
from tests.fixtures import warm_programs
from tools import sample

GUIDE = units.ROOT / 'doc' / 'source' / 'howto' / 'ci.rst'
README = units.ROOT / 'README.rst'
INSTALLATION = "pip install -c constraints.txt '.[testing]'"
# Clouds smaller than the default, in which a day of the clock takes a third of the CPU.
SIZE = '--cells 1 --hosts 2'
# Nothing listens there.
PROXY = 'http://127.0.0.1:9'
STOP_S = 60
# Lines that a terminal shows.
FIRST_SCREEN = 36


@sample.in_turns(4)
class HowtoTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        source, names = os.path.dirname(sys.executable), ['openstack', 'nova-lite', 'pytest']
        self.warm = self.useFixture(warm_programs.WarmPrograms(source, names))

    def run_commands(self, script, *state_dirs, **variables):
        """Run lines in a shell that ends at the first failure; return what it prints."""
        for name in state_dirs:
            self.addCleanup(running.stop, str(self.top / name), STOP_S)
        done = self.warm.run(
            ['bash', '-e', '-o', 'pipefail', '-c', script],
            {'HOME': str(self.top), 'TMPDIR': str(self.top), **variables},
            directory=self.top,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_in_a_shell(self):
        """Also where the network has a proxy, which cannot reach the cloud."""
        printed = self.run_commands(
            howto.commands_of('ci.rst', 'In a shell'), 'cloud', http_proxy=PROXY
        )
        self.assertIn('ACTIVE', printed)
        self.assertIn('No invariant is violated.', printed)
        self.assertTrue(printed.endswith('Stopped\n'))

    def test_several_clouds(self):
        printed = self.run_commands(howto.commands_of('ci.rst', 'Several clouds'), 'one', 'two')
        self.assertEqual(2, printed.count('Stopped\n'))

    def test_flavors_and_images(self):
        """The table has what a fresh cloud has, for a member as well."""
        script = [
            'nova-lite up --detach --port 0 --state-dir ./cloud --cells 1 --hosts 1',
            'eval "$(nova-lite env --state-dir ./cloud --cloud nova-lite-demo)"',
            *(f'openstack {kind} list -f value -c Name' for kind in ('flavor', 'image', 'network')),
        ]
        printed = self.run_commands('\n'.join(script), 'cloud').split('stops the cloud.\n')[1]
        table = GUIDE.read_text().split('\nFlavors ')[1].split('\nUsers ')[0]
        named = set(re.findall(r'``([\w.-]+)``', table)) - {'demo'}
        self.assertEqual(set(printed.split()), named)

    def test_the_first_server(self):
        """The commands of the README's first screen; tests.nightly.test_wheel installs."""
        screen = '\n'.join(README.read_text().splitlines()[:FIRST_SCREEN])
        commands = re.search(r'::\n\n((?:   .+\n)+)', screen)[1].splitlines()
        self.assertLessEqual(len(commands), 4)
        kinds = [re.search(r'git clone|pip install|nova-lite [a-z]+', each)[0] for each in commands]
        self.assertEqual(['git clone', 'pip install', 'nova-lite up', 'nova-lite openstack'], kinds)
        # The default port may be in use on this machine.
        script = '\n'.join(textwrap.dedent(each.lstrip()) for each in commands[2:])
        script = script.replace('up --detach', f'up --detach --port 0 {SIZE}')
        state_dir = self.top / 'first'
        printed = self.run_commands(script, 'first', NOVA_LITE_STATE=str(state_dir))
        self.assertRegex(printed, r'status +. ACTIVE')

    def test_readme(self):
        """The commands of the three doors, each in a new shell, with small clouds.

        All but those that install.
        """
        text = README.read_text().split('\nTest a client\n')[1].split('\nA first session\n')[0]
        doors = re.split('\n(?:Rehearse an operation|Study a control plane)\n', text)
        scripts = [re.findall(r'::\n\n((?:      .*\n|\n)+)', door) for door in doors]
        self.assertEqual([3, 1, 1], list(map(len, scripts)))
        variables = {
            **warm_plugin.variables(self.warm),
            'PYTEST_ADDOPTS': f'-p {warm_plugin.NAME} -o "nova_lite_up={SIZE}"',
        }
        printed = ''
        for blocks in scripts:
            script = ''.join(map(textwrap.dedent, blocks))
            self.assertLessEqual(5, len(script.strip().splitlines()), script)
            for found, instead in ((INSTALLATION, 'true'), ('--fresh', f'--fresh --port 0 {SIZE}')):
                script = script.replace(found, instead)
            printed += self.run_commands(script, 'cloud', **variables)
        self.assertIn('1 passed', printed)
        self.assertIn('db: moved to cell1-host2 (live)', printed)
        self.assertIn('cell1-host1 is enabled', printed)
        self.assertIn('No invariant is violated.', printed)
        self.assertIn('before copy', printed)
        self.assertTrue(printed.endswith('Stopped\n'), printed)
