"""Commands of an installation end with the process that runs them, and hold its lock until then."""

import fcntl
import os
import signal
import subprocess
import sys

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher.horizon import installation

END_S = 60
OWNER = """
import fcntl, sys
from nova_lite.lab.launcher.horizon import installation
with open(sys.argv[1], 'a') as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    command = ['sh', '-c', 'cat "$0" & echo begun; wait', sys.argv[2]]
    installation.run(command, sys.stdout.buffer, files=[lock.fileno()])
"""


class LeashedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        # Nothing writes to it, so that its readers do not end.
        self.silent = os.path.join(self.directory, 'silent')
        os.mkfifo(self.silent)

    def test_all_end_with_their_owner(self):
        lock = os.path.join(self.directory, 'lock')
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            command = [sys.executable, '-c', OWNER, lock, self.silent]
            owner = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
            self.assertEqual(b'begun\n', owner.stdout.readline())
            owner.send_signal(number)
            # The output ends when no process has it any more.
            self.assertEqual(b'', owner.communicate(timeout=END_S)[0])
            self.assertEqual(-number, owner.returncode)
            with open(lock, 'a') as again:
                fcntl.flock(again, fcntl.LOCK_EX)

    def run_command(self, *command):
        """Return (exit code, output) of a command, when no process has the output any more."""
        end, log = os.pipe()
        self.addCleanup(os.close, end)
        with os.fdopen(log, 'wb') as output:
            code = installation.run(command, output)
        found = b''
        while runtime.wait_readable(end, END_S):
            read = os.read(end, 4096)
            if not read:
                return code, found.decode()
            found += read
        raise AssertionError(f'a process runs {END_S} s after {command}')

    def test_what_a_command_leaves_behind_ends_with_it(self):
        found = self.run_command('sh', '-c', 'cat "$0" & echo a; exit 3', self.silent)
        self.assertEqual((3, 'a\n'), found)

    def test_a_command_that_cannot_start(self):
        self.assertEqual((1, '/nowhere: No such file or directory\n'), self.run_command('/nowhere'))
