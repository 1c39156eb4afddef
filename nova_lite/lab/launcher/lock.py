"""The lock of a state directory: the process that runs its cloud, and whether that is ready.

It imports little: each command prints the state of its cloud.
"""

import fcntl
import json
import os
import typing

LOCK = 'lock'
# What a cloud writes that is ready, see `running`.
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
            found: dict[str, typing.Any] = json.load(file)
    # ValueError: of a file that was cut.
    except (FileNotFoundError, ValueError):
        return None
    # A process that was killed has left its own.
    return found if found['pid'] == pid else None
