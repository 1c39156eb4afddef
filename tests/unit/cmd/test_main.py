"""The command for people."""

import os
import subprocess
import sys

import testtools

from nova_lite.cmd import main
from tests.fixtures import commands

LOADED = """
import sys
from nova_lite.cmd import main
try:
    main.main(['env', '--help'])
finally:
    print(*sorted(sys.modules))
"""

# Ctrl-C while the program imports its modules.
INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == 'nova_lite.cmd.main':
            os.kill(os.getpid(), signal.SIGINT)

from nova_lite.cmd import entry
sys.meta_path.insert(0, Finder())
sys.exit(entry.main())
"""


class MainTest(testtools.TestCase):
    def test_an_interrupt_in_the_first_moment(self):
        command = [sys.executable, '-c', INTERRUPTED]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((130, '', ''), (done.returncode, done.stdout, done.stderr))

    def test_only_the_wanted_command_is_loaded(self):
        done = subprocess.run([sys.executable, '-c', LOADED], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        loaded = done.stdout.splitlines()[-1].split()
        modules = {f'nova_lite.cmd.{main.module_of(name)}' for name in main.COMMANDS}
        self.assertEqual({'nova_lite.cmd.env'}, modules & set(loaded))

    def test_help_as_a_command(self):
        for words, shown in (
            (['help'], 'usage: nova-lite [-h]'),
            (['help', 'up'], 'usage: nova-lite up [-h]'),
            (['help', 'saga', 'list'], 'usage: nova-lite saga list [-h]'),
        ):
            code, out, _errors = commands.run(*words)
            self.assertEqual(0, code)
            self.assertTrue(out.startswith(shown), out)
        code, _out, errors = commands.run('help', 'upp')
        self.assertEqual(2, code)
        self.assertIn("Did you mean 'up'?", errors)

    def test_the_help_imports_no_command(self):
        done = subprocess.run(
            [sys.executable, '-c', LOADED.replace("['env', '--help']", '[]')],
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertNotIn('nova_lite.cmd.up', done.stdout.splitlines()[-1].split())

    def test_a_reader_that_goes_away(self):
        """The exit code is that of other programs, for a table and for JSON."""
        for words in (['scenario', 'list'], ['scenario', 'list', '--json']):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run(
                [sys.executable, '-m', 'nova_lite.cmd.main', *words],
                stdout=writing, stderr=subprocess.PIPE, check=False,
            )  # fmt: skip
            os.close(writing)
            self.assertEqual((141, b''), (done.returncode, done.stderr), words)

    def test_help_tells_them_all(self):
        told = main.parser().format_help()
        self.assertEqual([], [name for name in main.COMMANDS if f'\n    {name}' not in told])
