"""Programs that use the SQLite files of the simulation."""

import os
import sqlite3
import tempfile

from tests.sim import kernel
from tests.sim.world import faults
from tests.sim.world import sqlite
from tests.unit.sim import starts

WRITERS = 3


def writers():
    """Connections add one each, by statements of their own, not of cursors, and are slow."""
    now = kernel.current()
    sqlite.install(sqlite.Disk(faults.Faults()))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'account.sqlite')
        _open(path).execute('CREATE TABLE account AS SELECT 0 AS balance')
        starts.together(*[lambda: _add(path)] * WRITERS)
        (balance,) = _open(path).execute('SELECT balance FROM account').fetchone()
    now.log('balance', balance)


def scripts():
    """A connection and its cursor are given a script."""
    sqlite.install(sqlite.Disk(faults.Faults()))
    with tempfile.TemporaryDirectory() as directory:
        connection = _open(os.path.join(directory, 'account.sqlite'))
        for each in (connection, connection.cursor()):
            try:
                each.executescript('CREATE TABLE account (balance)')
            except sqlite.ScriptError as error:
                kernel.current().log('refused', error)


def _open(path):
    return sqlite3.connect(path, isolation_level=None)


def _add(path):
    connection = _open(path)
    connection.execute('BEGIN IMMEDIATE')
    (balance,) = connection.execute('SELECT balance FROM account').fetchone()
    kernel.current().sleep(1)
    connection.executemany('UPDATE account SET balance = ?', [(balance + 1,)])
    connection.execute('COMMIT')
