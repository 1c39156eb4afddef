"""Copies of SQLite files that a running cloud uses."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import pathlib
import sqlite3
import typing

from nova_lite import exception
from nova_lite import runtime

# The text of a statement, followed by its values.
Statement: typing.TypeAlias = tuple[typing.Any, ...]

BUSY_S = 30
# After HELD_UP_S all files are unlocked: a writer of one file may wait for another file.
HELD_UP_S, QUIET_S, LOOK_S = 0.5, 20.0, 0.001


class NotQuiet(exception.Unavailable):
    msg = 'The databases of the cloud are written to without a pause: %(cause)s. Try again.'


def copy_all(files: Mapping[str, str], *, noted: Callable[[], object] = lambda: None) -> None:
    """Copy the contents that files have at one instant, while no process can write to them.

    files: {path: path of the copy}; noted: called at that instant
    """
    with _no_writes(sorted(files)):
        noted()
        for source, target in files.items():
            copy(source, target)


def copy(source: str, target: str) -> None:
    """Write the contents of a file to a new file, for `unshared`."""
    with opened(source) as saved, opened(target, 'rwc') as written:
        written.execute('PRAGMA synchronous = OFF')
        saved.backup(written, sleep=LOOK_S)
        # Each connection would have to open and remove a separate log.
        written.execute('PRAGMA journal_mode = DELETE')


@contextlib.contextmanager
def unshared(path: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a copy that no other thread uses. A crash may damage the copy."""
    with opened(path) as connection:
        connection.execute('PRAGMA synchronous = OFF')
        connection.execute('PRAGMA journal_mode = MEMORY')
        yield connection


def execute(connection: sqlite3.Connection, statements: Iterable[Statement]) -> None:
    """Execute statements in one transaction. statements: [(text, value, ...), ...]"""
    connection.execute('BEGIN')
    for statement, *values in statements:
        connection.execute(statement, values)
    connection.commit()


def replace(path: str, connection: sqlite3.Connection) -> None:
    """Replace the contents of a file by those of a copy, in one transaction.

    connection: to the copy. Others may read the file meanwhile
    """
    with opened(path, 'rwc') as written:
        connection.backup(written, sleep=LOOK_S)


def programs(connection: sqlite3.Connection) -> list[str]:
    """Return the names of what a file does by itself: its triggers and views."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
    )
    return [name for (name,) in found]


def opened(
    path: str, mode: str = 'rw', *, busy_s: float = BUSY_S
) -> contextlib.closing[sqlite3.Connection]:
    """Return a context with a connection to a file, which must exist unless the mode is rwc."""
    url = f'{pathlib.Path(path).absolute().as_uri()}?mode={mode}'
    connection = sqlite3.connect(url, uri=True, timeout=busy_s, isolation_level=None)
    return contextlib.closing(connection)


@contextlib.contextmanager
def _no_writes(paths: Iterable[str]) -> Iterator[None]:
    """Keep all others from writing to these files inside the block. Raise NotQuiet.

    Waits by the clock of the system: that of the cloud may stand still.
    """
    system = runtime.Runtime()
    until = system.monotonic() + QUIET_S
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(opened(path, busy_s=0)) for path in paths]
        while (problem := _begin(connections, system)) is not None:
            if system.monotonic() > until:
                raise NotQuiet(cause=problem)
            system.sleep(LOOK_S)
        # Their end rolls back.
        yield


def _begin(
    connections: Iterable[sqlite3.Connection], system: runtime.Runtime
) -> sqlite3.Error | None:
    """Begin to write on all connections; return None, or the error after which none has begun."""
    until = system.monotonic() + HELD_UP_S
    for connection in connections:
        while (problem := _begin_one(connection)) is not None:
            if system.monotonic() > until:
                for begun in connections:
                    begun.rollback()
                return problem
            system.sleep(LOOK_S)
    return None


def _begin_one(connection: sqlite3.Connection) -> sqlite3.Error | None:
    try:
        connection.execute('BEGIN IMMEDIATE')
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return error
    return None
