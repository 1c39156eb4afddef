"""Small files that belong to the state of a cloud, beside its databases.

A snapshot contains those that exist. A restore replaces them, and deletes those that the snapshot
does not contain.
"""

from collections.abc import Collection
import contextlib
import os
import shutil

# The record of the drill that changes the cloud, of `lab.scenarios.kept`.
DRILL = os.path.join('run', 'drill.json')
NAMES = (DRILL,)


def copy(root: str, draft: str) -> dict[str, str]:
    """Copy the files of a state directory into a directory. Return {name: path of the copy}.

    Copies of an earlier call stay where the file was deleted since.
    """
    copies = {name: os.path.join(draft, name) for name in NAMES}
    for name, target in copies.items():
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(root, name), target)
    return {name: target for name, target in copies.items() if os.path.exists(target)}


def targets(draft: str, found: Collection[str]) -> dict[str, str]:
    """Return {name: path in a directory} of the files in a snapshot. found: all of its names"""
    os.makedirs(os.path.join(draft, 'run'), mode=0o700, exist_ok=True)
    return {name: os.path.join(draft, name) for name in NAMES if name in found}


def put(draft: str, root: str) -> None:
    """Replace the files of a state directory with those in a directory, or delete them."""
    for name in NAMES:
        source, target = os.path.join(draft, name), os.path.join(root, name)
        with contextlib.suppress(FileNotFoundError):
            os.replace(source, target) if os.path.exists(source) else os.unlink(target)
