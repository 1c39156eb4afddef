"""Ctrl-C and other signals while a command undoes what it did."""

import os
import subprocess
import sys

import testtools

PROGRAM = """
import os, signal, sys
from nova_lite.lab.console import interrupts
try:
    with interrupts.ignored(print, 'goes on'):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(os.getpid(), number)
    print('done')
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print('interrupted')
"""


# A signal interrupts a print, in which a second print raises RuntimeError.
WITHIN_A_PRINT = """
import os, signal, sys
from nova_lite.lab.console import interrupts
class Text:
    def __str__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return 'whole'
def say(text):
    raise RuntimeError('reentrant call')
with interrupts.ignored(say, 'goes on'):
    print(Text())
"""
IGNORING = """
import os, signal
from nova_lite.lab.console import interrupts
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with interrupts.handled(print):
    os.kill(os.getpid(), signal.SIGHUP)
os.kill(os.getpid(), signal.SIGHUP)
print('done')
"""


class InterruptsTest(testtools.TestCase):
    def test_signals(self):
        """They are ignored within the block, and work after it."""
        done = subprocess.run(
            [sys.executable, '-c', PROGRAM], capture_output=True, text=True, env=os.environ
        )
        self.assertEqual('goes on\n' * 4 + 'done\ninterrupted\n', done.stdout, done.stderr)

    def test_within_a_print(self):
        done = subprocess.run(
            [sys.executable, '-c', WITHIN_A_PRINT], capture_output=True, text=True, env=os.environ
        )
        self.assertEqual(('whole\n', ''), (done.stdout, done.stderr))

    def test_what_nohup_ignores(self):
        done = subprocess.run(
            [sys.executable, '-c', IGNORING], capture_output=True, text=True, env=os.environ
        )
        self.assertEqual('done\n', done.stdout, done.stderr)
