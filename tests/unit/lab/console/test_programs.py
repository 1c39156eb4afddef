"""Programs whose output cannot be written, or that Ctrl-C ends: exit codes without tracebacks."""

import os
import subprocess
import sys

import testtools

from tools import sample

PROGRAM = """
import atexit, os, signal, sys
from nova_lite.lab.console import programs
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def program():
    {body}
    return 0
sys.exit(programs.run(program, name='nova-lite', failed=2))
"""
PRINTS = "print('a line')"
FLUSHES = f'{PRINTS}; sys.stdout.flush()'
ENDS = f'{PRINTS}; raise SystemExit(0)'
FULL = 'nova-lite: standard output: No space left on device\n'


@sample.in_turns(3)
class ProgramsTest(testtools.TestCase):
    def run_program(self, body, stdout, **options):
        command = [sys.executable, '-c', PROGRAM.format(body=body)]
        environ = {key: value for key, value in os.environ.items() if key != 'PYTHONUNBUFFERED'}
        done = subprocess.run(
            command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environ, **options
        )
        return done.returncode, done.stderr

    def test_outputs(self):
        """The last lines are written before the exit code is known."""
        for body in (PRINTS, FLUSHES, ENDS):
            with open('/dev/full', 'w') as full:
                self.assertEqual((2, FULL), self.run_program(body, full), body)
            reading, writing = os.pipe()
            os.close(reading)
            self.assertEqual((141, ''), self.run_program(body, writing), body)
            os.close(writing)
            with open(os.devnull, 'w') as nothing:
                self.assertEqual((0, ''), self.run_program(body, nothing), body)

    def test_interrupts(self):
        """Ctrl-C ends the program also while the interpreter ends."""
        for body, code in (
            ('interrupt()', 130),
            (f'{PRINTS}; interrupt()', 130),
            # As a shell says it: 128 and the number of the signal.
            ('atexit.register(interrupt)', -2),
        ):
            self.assertEqual((code, ''), self.run_program(body, subprocess.DEVNULL), body)

    def test_an_interrupt_that_is_ignored(self):
        """It stays ignored, as in a job that a script starts in the background."""
        ignore = 'signal.signal(signal.SIGINT, signal.SIG_IGN)'
        body = f'{ignore}; atexit.register(interrupt)'
        self.assertEqual((0, ''), self.run_program(body, subprocess.DEVNULL))

    def test_missing_streams(self):
        """No file of the program takes the place of a stream that is closed."""
        body = "found = os.open(os.devnull, os.O_RDONLY); print('x'); return found < 3"
        for closing in ('>&-', '<&-', '<&- >&-', '<&- >&- 2>&-'):
            command = [sys.executable, '-c', PROGRAM.format(body=body)]
            shell = ['sh', '-c', f'exec "$@" {closing}', 'sh', *command]
            done = subprocess.run(shell, capture_output=True, text=True)
            self.assertEqual((0, ''), (done.returncode, done.stderr), closing)
