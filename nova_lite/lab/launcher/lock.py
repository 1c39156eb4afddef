"""The lock of a state directory: the process that runs its cloud, and whether the cloud is ready.

This module imports little, because each command prints the state of its cloud.
"""

import fcntl
import json
import os
import typing

LOCK = 'lock'
# The file that a cloud writes when it is ready; see `running`.
READY = os.path.join('run', 'up.json')


def holder(directory: str) -> int | None:
    """Return the id of the process that runs the cloud in a state directory, or None."""
    path = os.path.join(directory, LOCK)
    if not os.path.exists(path):
        return None
    with open(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = lock.read().strip()
            return int(text) if text.isdigit() else None
    return None


def ready(directory: str) -> dict[str, typing.Any] | None:
    """Return the values of READY; None unless the process that holds the lock wrote them."""
    pid = holder(directory)
    try:
        with open(os.path.join(directory, READY)) as file:
            found = json.load(file)
    # A truncated file causes ValueError, and thousands of brackets cause RecursionError.
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    # The file may be of a process that was killed.
    is_own = pid is not None and isinstance(found, dict) and found.get('pid') == pid
    return found if is_own else None
