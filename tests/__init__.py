"""Tests of nova_lite, one folder for each tox environment."""

import gc
import logging
import os
import tempfile

# Without any handler Python prints each warning between the results of the tests.
logging.getLogger().addHandler(logging.NullHandler())

# Rows, statements and requests are made by the thousand and soon forgotten: looking for
# cycles less often takes a twentieth of the unit tests' CPU time away, and a fifth of that
# of imports.
gc.set_threshold(20000, 20, 20)

# The environment may name a cloud of the user, which no test may use.
for _name in [*os.environ]:
    if _name.startswith('OS_') or _name in ('NOVA_LITE_STATE', 'XDG_STATE_HOME'):
        del os.environ[_name]

MEMORY = '/dev/shm'
# Databases of a few clouds and of three kinds of servers.
ENOUGH_BYTES = 4 << 30


def _has_room(path):
    """Return whether a file system has the room, and runs the scripts that tests write."""
    try:
        found = os.statvfs(path)
    except OSError:
        return False
    is_usable = os.access(path, os.W_OK) and not found.f_flag & os.ST_NOEXEC
    return is_usable and found.f_bavail * found.f_frsize >= ENOUGH_BYTES


# A database that is closed waits for a disk, of which a test has no use.
if 'TMPDIR' not in os.environ and _has_room(MEMORY):
    os.environ['TMPDIR'] = MEMORY
    tempfile.tempdir = None
