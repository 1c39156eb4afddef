"""The one source of time, chance and ids."""

import subprocess
import sys

import testtools

from nova_lite import runtime

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


class BootTestCase(testtools.TestCase):
    def test_processes_agree_on_the_boot(self):
        code = 'from nova_lite import runtime; print(runtime.boot_id(), runtime.boottime())'
        before = runtime.boottime()
        done = subprocess.run(
            [sys.executable, '-c', code], check=True, capture_output=True, text=True
        )
        boot_id, at = done.stdout.split()
        self.assertEqual(runtime.boot_id(), boot_id)
        self.assertLessEqual(before, float(at))
        self.assertLessEqual(float(at), runtime.boottime())
