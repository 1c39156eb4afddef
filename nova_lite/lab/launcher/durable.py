"""Files that survive a loss of power."""

import os


def sync(path: str) -> None:
    """Write a file, or the names in a directory, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(draft: str, target: str) -> None:
    """Rename a file. After a loss of power the former file is there, or the whole new one."""
    sync(draft)
    os.replace(draft, target)
    sync(os.path.dirname(os.path.abspath(target)))
