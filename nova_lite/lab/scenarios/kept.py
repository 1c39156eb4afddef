"""The record of the drill that runs in a cloud, in its state directory.

A process that is killed cannot restore the cloud. The next drill reads the record, and undoes the
changes of the killed drill first. A lock shows whether a drill still runs.
"""

from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
import fcntl
import json
import os
import typing

from nova_lite import exception
from nova_lite.lab.launcher import layout

PATH, LOCK = os.path.join('run', 'drill.json'), os.path.join('run', 'drill.lock')


class Busy(exception.Conflict):
    msg = (
        'A drill runs in the cloud in %(directory)s. Try again when it has ended, or use another cloud, '
        'such as one of `nova-lite fork`'
    )


class Undo(typing.TypedDict):
    """A request that undoes a change. options: keyword arguments of clients.Cloud.request"""

    method: str
    path: str
    body: dict[str, typing.Any] | None
    options: dict[str, str]


@dataclasses.dataclass
class Record:
    """The record of a drill. scenario: its name; undo: oldest first; path: of the file"""

    path: str
    scenario: str
    hosts: Sequence[str]
    undo: list[Undo] = dataclasses.field(default_factory=list)

    def write(self) -> None:
        """Write the record to its file."""
        values = dataclasses.asdict(self)
        del values['path']
        layout.write(self.path, json.dumps(values))

    def add(self, undo: Undo) -> None:
        """Add a change that must be undone."""
        self.undo.append(undo)
        self.write()

    def delete(self) -> None:
        """Delete the file: the cloud is restored."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


@contextlib.contextmanager
def locked(directory: str) -> Iterator[None]:
    """Keep other drills from a cloud. Raise Busy. directory: the state directory of the cloud"""
    with open(os.path.join(directory, LOCK), 'a') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy(directory=directory) from error
        yield


def path_of(directory: str) -> str:
    """Return the path of the record in the state directory of a cloud."""
    return os.path.join(directory, PATH)


def left(directory: str) -> Record | None:
    """Return the record of a drill that was killed, None if there is none. Call this when `locked`.

    A record that this release cannot read is ignored.
    """
    path = path_of(directory)
    try:
        with open(path) as file:
            return Record(path=path, **json.load(file))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None
