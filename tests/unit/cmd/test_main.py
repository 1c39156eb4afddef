"""The command for people."""

import subprocess
import sys

import testtools

from nova_lite.cmd import main

LOADED = """
import sys
from nova_lite.cmd import main
try:
    main.main(['env', '--help'])
finally:
    print(*sorted(sys.modules))
"""


class MainTest(testtools.TestCase):
    def test_only_the_wanted_command_is_loaded(self):
        done = subprocess.run([sys.executable, '-c', LOADED], capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        loaded = done.stdout.splitlines()[-1].split()
        modules = {f'nova_lite.cmd.{main.module_of(name)}' for name in main.COMMANDS}
        self.assertEqual({'nova_lite.cmd.env'}, modules & set(loaded))

    def test_the_help_imports_no_command(self):
        done = subprocess.run(
            [sys.executable, '-c', LOADED.replace("['env', '--help']", '[]')],
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertNotIn('nova_lite.cmd.up', done.stdout.splitlines()[-1].split())

    def test_help_tells_them_all(self):
        told = main.parser().format_help()
        self.assertEqual([], [name for name in main.COMMANDS if f'\n    {name}' not in told])
