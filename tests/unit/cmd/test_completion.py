"""The completion of arguments, in the shells themselves."""

import os
import subprocess

import fixtures
import testtools

from nova_lite.cmd import main
from nova_lite.lab.console import completion
from tests.fixtures import servers

# {words typed so far, the last of which is completed: some of what is proposed}
TYPED = {
    ('sag',): {'saga'},
    ('saga', 'li'): {'list'},
    ('saga', 'list', '--act'): {'--active'},
    ('host', 'o'): {'off', 'on'},
    ('fault', 'add', '--service', 'pl'): {'placement'},
    ('up', '--det'): {'--detach'},
    ('up', '--name', 'o'): {'one'},
    ('up', '--state-dir', 'ho'): {'home'},
}
BASH = 'source "$0"; COMP_WORDS=(nova-lite "$@"); COMP_CWORD=$#; _nova_lite; echo "${COMPREPLY[@]}"'
FISH = 'source $argv[1]; complete -C "$argv[2]"'
ZSH = 'source $0; whence -w _nova_lite'


class CompletionTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', self.directory))
        self.useFixture(fixtures.EnvironmentVariable('HOME', self.directory))
        os.makedirs(os.path.join(self.directory, 'nova-lite-clouds', 'one'))
        os.mkdir(os.path.join(self.directory, 'home'))

    def script(self, shell):
        path = os.path.join(self.directory, f'nova-lite.{shell}')
        found = completion.commands(lambda argv: main.parser(argv[:1]).parse_args(argv))
        with open(path, 'w') as file:
            file.write(completion.SHELLS[shell]([*found]))
        return path

    def run_shell(self, *argv):
        servers.require_programs(argv[0])
        done = subprocess.run(argv, cwd=self.directory, capture_output=True, text=True)
        self.assertEqual((0, ''), (done.returncode, done.stderr), argv)
        return done.stdout

    def test_bash(self):
        path = self.script('bash')
        for typed, expected in TYPED.items():
            printed = self.run_shell('bash', '-c', BASH, path, *typed)
            self.assertLessEqual(expected, {*printed.split()}, typed)

    def test_fish(self):
        path = self.script('fish')
        for typed, expected in TYPED.items():
            if '--name' in typed:
                continue
            printed = self.run_shell('fish', '-c', FISH, path, f'nova-lite {" ".join(typed)}')
            found = {line.partition('\t')[0].rstrip('/') for line in printed.splitlines()}
            self.assertLessEqual(expected, found, typed)

    def test_zsh(self):
        path = self.script('zsh')
        self.run_shell('zsh', '-n', path)
        self.assertIn('function', self.run_shell('zsh', '-f', '-c', ZSH, path))
