"""Directories for files of histories and played tests.

Who only starts what plays them imports this, and not the launcher.
"""

import os
import tempfile

MEMORY = '/dev/shm'
# Several runs share it, each with some 30 MB.
ENOUGH_BYTES = 1 << 30


def new():
    """Return a new directory, in memory where there is enough."""
    where = MEMORY if os.access(MEMORY, os.W_OK) and _free(MEMORY) >= ENOUGH_BYTES else None
    return tempfile.mkdtemp(prefix='nova-lite-sim-', dir=where)


def _free(path):
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize
