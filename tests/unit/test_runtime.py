"""The one source of time, chance and ids."""

import subprocess
import sys

import testtools

FORK = """
import os
from nova_lite import runtime
pid = os.fork()
os.write(1, runtime.new_uuid().encode() + b'\\n')  # one write, never interleaved
if pid:
    os.waitpid(pid, 0)
"""


class ForkTestCase(testtools.TestCase):
    def test_forked_processes_do_not_make_the_same_ids(self):
        done = subprocess.run(
            [sys.executable, '-c', FORK], check=True, capture_output=True, text=True
        )
        ids = done.stdout.split()
        self.assertEqual(2, len(ids))
        self.assertEqual(2, len(set(ids)))
