"""The clock of the jobs in a file: it counts seconds, whatever the time of day is set to.

A job is stored with the instants at which it begins and is due. They are seconds of the
machine's boot clock, moved by a constant so that the clock shows the time of day when the
file is made. A wall clock that is set forward therefore ends no job early, and one that is
set back delays none.

The boot clock begins at zero with each boot. The first process that opens the file after
that (the boot id is another) moves it again: as much time has passed since the last job
was started as the wall clock says, and none if that went back. A file that is copied to
another machine is treated in the same way.
"""

import sqlite3

from nova_lite import runtime

TABLE = """
CREATE TABLE IF NOT EXISTS clock (
    boot_id TEXT NOT NULL,
    ahead REAL NOT NULL,
    instant REAL NOT NULL,
    wall REAL NOT NULL
)
"""


class Clock:
    """The clock of one file. tx: a transaction that writes."""

    def __init__(self, tx: sqlite3.Connection) -> None:
        tx.execute(TABLE)
        boot_id = runtime.boot_id()
        row = tx.execute('SELECT * FROM clock').fetchone()
        if row is not None and row['boot_id'] == boot_id:
            self._ahead: float = row['ahead']
            return
        instant = wall = runtime.timestamp()
        if row is not None:
            instant = row['instant'] + max(0.0, wall - row['wall'])
        self._ahead = instant - runtime.boottime()
        tx.execute('DELETE FROM clock')
        tx.execute('INSERT INTO clock VALUES (?, ?, ?, ?)', (boot_id, self._ahead, instant, wall))

    def now(self) -> float:
        """Return the present instant in seconds; only differences mean anything."""
        return runtime.boottime() + self._ahead


def read(connection: sqlite3.Connection) -> float | None:
    """Return the instant by the clock of a file that is only read, None if it stands still.

    It does when no process has opened the file to write since the boot of the machine.
    """
    known = "SELECT 1 FROM sqlite_master WHERE name = 'clock'"
    if connection.execute(known).fetchone() is None:
        return None
    boot_id: str
    ahead: float
    boot_id, ahead = connection.execute('SELECT boot_id, ahead FROM clock').fetchone()
    return runtime.boottime() + ahead if boot_id == runtime.boot_id() else None


def mark(tx: sqlite3.Connection, instant: float) -> None:
    """Record the time of day at `instant`, from which time is counted after a boot."""
    tx.execute('UPDATE clock SET instant = ?, wall = ?', (instant, runtime.timestamp()))
