"""Copies of SQLite files that a running cloud uses."""

import contextlib
import pathlib
import sqlite3

from nova_lite import exception
from nova_lite import runtime

BUSY_S = 30
# A writer of one file may wait for another one that is locked here: then all are released.
HELD_UP_S, QUIET_S, LOOK_S = 0.5, 20.0, 0.001


class NotQuiet(exception.Unavailable):
    msg = 'The databases of the cloud are written to without a pause: %(cause)s. Try again.'


def copy_all(files, *, noted=lambda: None):
    """Copy files as they are at one instant, while no process can write to them.

    files: {path: path of its copy}; noted: called at that instant
    """
    with _no_writes(sorted(files)):
        noted()
        for source, target in files.items():
            copy(source, target, synchronous='OFF')


def copy(source, target, *, synchronous='NORMAL'):
    """Replace the contents of a file by those of another, in one transaction."""
    with opened(source) as saved, opened(target, 'rwc') as written:
        written.execute(f'PRAGMA synchronous = {synchronous}')
        saved.backup(written, sleep=LOOK_S)


def execute(path, statement, *values):
    """Execute a statement in a file."""
    with opened(path) as connection:
        connection.execute(statement, values)


def programs(path):
    """Return the names of what a file does by itself: its triggers and views."""
    with opened(path) as connection:
        return [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
            )
        ]


def opened(path, mode='rw', *, busy_s=BUSY_S):
    """Return a context with a connection to a file, which must exist unless the mode is rwc."""
    url = f'{pathlib.Path(path).absolute().as_uri()}?mode={mode}'
    connection = sqlite3.connect(url, uri=True, timeout=busy_s, isolation_level=None)
    return contextlib.closing(connection)


@contextlib.contextmanager
def _no_writes(paths):
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


def _begin(connections, system):
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


def _begin_one(connection):
    try:
        connection.execute('BEGIN IMMEDIATE')
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return error
    return None
