"""The record of the drill that changes a cloud, in its state directory.

A process that is killed cannot restore the cloud. The next drill reads the record, and undoes the
changes of the killed drill first. So the record has each change before it is made. It belongs to
the state of the cloud: a restored state has the record of the drill that ran when it was saved, or
none. A lock shows whether a drill, or a command that it has started, still runs.
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
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_files

PATH, LOCK = state_files.DRILL, os.path.join('run', 'drill.lock')

TEXT = {'type': 'string', 'minLength': 1}
UNDO = schema_parts.whole(
    {
        'method': {'enum': ['PUT', 'DELETE']},
        'path': {'type': 'string', 'pattern': '^/'},
        'body': {'type': ['object', 'null']},
        'options': {'type': 'object', 'additionalProperties': {'type': 'string'}},
    },
    required=['method', 'path', 'body', 'options'],
)
RECORD = schemas.Schema(
    schema_parts.whole(
        {
            'scenario': TEXT,
            'hosts': {'type': 'array', 'items': TEXT},
            'undo': {'type': 'array', 'items': UNDO},
        },
        required=['scenario', 'hosts', 'undo'],
    ),
    place='key',
)


class Busy(exception.Conflict):
    msg = (
        'A drill, or a command that it has started, runs in the cloud in %(directory)s. Try again when '
        'it has ended, or use another cloud, such as one of `nova-lite fork`'
    )


class Unreadable(exception.Conflict):
    msg = (
        'The record of a drill whose process was killed, %(path)s, cannot be read: %(reason)s. Return '
        'the cloud to its first state with `nova-lite reset`. Or remove the faults, the servers and the '
        'volumes of the drill, whose names begin with drill-, and delete the file'
    )


class NotWritten(exception.Unavailable):
    msg = (
        'The record of the drill, %(path)s, cannot be written: %(reason)s. The drill changes nothing '
        'that its record does not have'
    )


class Undo(typing.TypedDict):
    """A request that undoes a change, and does no harm without it or twice.

    options: keyword arguments of clients.Cloud.request
    """

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
        """Write the record to its file. Raise NotWritten."""
        values = dataclasses.asdict(self)
        del values['path']
        try:
            layout.write(self.path, json.dumps(values))
        except OSError as error:
            raise NotWritten(path=self.path, reason=messages.cause(error)) from error

    def add(self, undo: Undo) -> None:
        """Add the undo of a change that is about to be made. Raise NotWritten."""
        self.undo.append(undo)
        self.write()

    def delete(self) -> None:
        """Delete the file: the cloud is restored."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


@contextlib.contextmanager
def locked(directory: str) -> Iterator[int]:
    """Keep other drills from a cloud. Yield the descriptor of the lock. Raise Busy.

    A process that inherits the descriptor keeps the lock until it ends.
    directory: the state directory of the cloud
    """
    with open(os.path.join(directory, LOCK), 'a') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy(directory=directory) from error
        yield lock.fileno()


def path_of(directory: str) -> str:
    """Return the path of the record in the state directory of a cloud."""
    return os.path.join(directory, PATH)


def left(directory: str) -> Record | None:
    """Return the record of a drill that was killed, None if there is none. Raise Unreadable.

    Call this when `locked`.
    """
    path = path_of(directory)
    try:
        with open(path) as file:
            found = json.load(file)
        RECORD.check(found)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path=path, reason=messages.cause(error)) from error
    except exception.Invalid as error:
        raise Unreadable(path=path, reason=messages.of(error)) from error
    # Thousands of brackets cause RecursionError.
    except (ValueError, RecursionError) as error:
        raise Unreadable(path=path, reason='it is not JSON') from error
    return Record(path=path, **found)
