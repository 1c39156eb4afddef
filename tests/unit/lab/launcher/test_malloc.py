"""The allocator of the C library."""

import platform
import subprocess
import sys

import testtools

# Threads that hold more than Python's own allocator gives.
CODE = """
import ctypes
from nova_lite import runtime
from nova_lite.lab.launcher import malloc
malloc.limit_arenas()
opened = runtime.Event()
def hold():
    held = bytearray(2000)
    opened.wait()
threads = [runtime.spawn(hold) for _number in range(8)]
opened.set()
for each in threads:
    each.join()
malloc.trim()
library = ctypes.CDLL(None)
library.malloc_info(0, ctypes.c_void_p.in_dll(library, 'stdout'))
library.fflush(None)
"""


class MallocTestCase(testtools.TestCase):
    def test_threads_share_a_few_arenas(self):
        if platform.libc_ver()[0] != 'glibc':
            self.skipTest('only glibc has arenas')
        done = subprocess.run(
            [sys.executable, '-c', CODE], check=True, capture_output=True, text=True
        )
        self.assertEqual(2, done.stdout.count('<heap nr='))
