"""Ctrl-C while a command undoes what it did."""

import os
import subprocess
import sys

import testtools

PROGRAM = """
import os, signal, sys
from nova_lite.lab.console import interrupts
try:
    with interrupts.ignored(print, 'goes on'):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
    print('done')
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print('interrupted')
"""


class InterruptsTest(testtools.TestCase):
    def test_signals(self):
        """They are ignored within the block, and work after it."""
        done = subprocess.run(
            [sys.executable, '-c', PROGRAM], capture_output=True, text=True, env=os.environ
        )
        self.assertEqual('goes on\n' * 3 + 'done\ninterrupted\n', done.stdout, done.stderr)
