"""SQLite under the scheduler: no statement waits inside it, and each may fail.

Every connection that this process opens is of the class here. The write lock of a
file is modelled: who wants it while another has it is blocked in the simulation.
"""

import functools
import os
import sqlite3

from tests.sim import kernel
from tests.sim.world import faults as faults_module

BEFORE, AFTER = 'before COMMIT', 'after COMMIT'
# Databases whose errors nova_lite must cope with. The others are other projects', or a disk.
SERVED = ('api', 'cell0', 'cell1', 'cell2')
# What a server may report at COMMIT: whether it was carried out, and MariaDB's error.
COMMITS = {
    'lost before': (BEFORE, 2013, 'Lost connection to server during query'),
    'lost after': (AFTER, 2013, 'Lost connection to server during query'),
    'conflict': (BEFORE, 1213, 'Deadlock found when trying to get lock'),
    'busy': (BEFORE, 1205, 'Lock wait timeout exceeded'),
    'read-only': (BEFORE, 1290, 'The server is running with the --read-only option'),
    'killed after': (AFTER, 1927, 'Connection was killed'),
    'shutdown': (BEFORE, 1053, 'Server shutdown in progress'),
}
STATEMENTS = {
    'lost': (2006, 'Server has gone away'),
    'conflict': (1213, 'Deadlock found when trying to get lock'),
    'busy': (1969, 'Query execution was interrupted (max_statement_time exceeded)'),
    'locked': (1205, 'Lock wait timeout exceeded'),
    'full': (1040, 'Too many connections'),
    'read-only': (1836, 'Running in read-only mode'),
    'shutdown': (1053, 'Server shutdown in progress'),
}
# After these a server keeps the connection.
REFUSALS = ('busy', 'locked', 'full', 'read-only')
ENDS = ('COMMIT', 'ROLLBACK', 'END', 'RELEASE', 'SAVEPOINT')
READS = ('SELECT', 'PRAGMA', 'EXPLAIN', 'WITH', 'VALUES')


@functools.lru_cache(maxsize=4096)
def _kind(sql):
    """Return the verb of a statement, and whether it begins a transaction that writes."""
    words = sql.split(None, 2)
    verb = words[0].upper()
    immediate = verb == 'BEGIN' and len(words) > 1 and words[1].upper().startswith('IMMEDIATE')
    return verb, immediate


class Disk:
    """The files of all databases, and who has their write locks.

    faults: a faults.Faults; kinds are 'commit', 'statement', and for threads that work for a
        request 'begin' (it takes long) and 'work' (a COMMIT of what was written)
    """

    def __init__(self, faults):
        self.faults = faults
        self.writers = {}
        self.connections = {}
        self._watchers = []

    def watch(self, watcher):
        """Notify `watcher` of each commit: committed(path)."""
        self._watchers.append(watcher)

    def committed(self, connection):
        """Publish the writes of a connection."""
        self.unlock(connection)
        for watcher in self._watchers:
            watcher.committed(connection.path)

    def close_all(self):
        """Wait until no transaction is open and close all files; return who is to reopen them."""
        kernel.current().block_until(self.is_idle, 'db: transactions')
        found = self._every()
        for connection in found:
            connection.hibernate()
        return found

    def is_idle(self):
        """Return whether no transaction is open."""
        return not any(connection.in_transaction for connection in self._every())

    def _every(self):
        return [each for known in self.connections.values() for each in known.values()]

    def opened(self, connection):
        """A process has opened a connection, which ends with it."""
        process = kernel.current().here
        known = self.connections.get(process)
        if known is None:
            known = self.connections[process] = {}
            process.on_kill(lambda: self._killed(process))
        known[id(connection)] = connection

    def closed(self, connection):
        """A connection has been closed."""
        for known in self.connections.values():
            known.pop(id(connection), None)

    def _killed(self, process):
        for connection in list(self.connections.pop(process, {}).values()):
            connection.cut()

    def lock(self, connection):
        """Wait until no other connection writes to the file."""
        path = connection.path
        if self.writers.get(path) is connection:
            return
        if path in self.writers:
            kernel.current().block_until(lambda: path not in self.writers, f'db: lock {path}')
        self.writers[path] = connection

    def locked_by(self, process):
        """Return the paths of files to which a process writes, so that others have to wait."""
        known = self.connections.get(process, ())
        return [path for path, connection in self.writers.items() if id(connection) in known]

    def unlock(self, connection):
        """Release the write lock."""
        if self.writers.get(connection.path) is connection:
            del self.writers[connection.path]


_disk = None
plain_connect = sqlite3.connect


class ScriptError(Exception):
    """A script was to be executed, whose statements would pass by the scheduler."""


class Cursor(sqlite3.Cursor):
    """A cursor of a Connection."""

    def execute(self, sql, *args):
        self.connection.prepare(sql)
        super().execute(sql, *args)
        self.connection.settle()
        return self

    def executemany(self, sql, *args):
        self.connection.prepare(sql)
        super().executemany(sql, *args)
        self.connection.settle()
        return self

    def executescript(self, script):
        raise ScriptError(script)


class Connection(sqlite3.Connection):
    """path: of its file; name: of its database; is_cut: it is of no use any more

    is_asleep: its file is closed, and is opened where it is needed: many are not
    """

    path = name = ''
    is_cut = is_asleep = False

    def __init__(self, database, **kwargs):
        super().__init__(database, **kwargs)
        self._opened_with = database, kwargs
        # What has been set since then, to be set again when the file is opened again.
        self._pragmas, self._functions = [], []
        self.name_file()

    def name_file(self):
        """Note where the file is now: the working directory may be another."""
        path = str(self._opened_with[0])
        if path.startswith('file:'):
            path = path[len('file://') :].partition('?')[0]
        self.path = os.path.realpath(path)
        self.name = os.path.basename(self.path).removesuffix('.sqlite')
        self._is_served = self.name in SERVED

    @property
    def in_transaction(self):
        return not self.is_asleep and super().in_transaction

    def create_function(self, *args, **kwargs):
        self._wake()
        self._functions.append((args, kwargs))
        super().create_function(*args, **kwargs)

    def hibernate(self):
        """Close the file, to be opened again with `reopen`: descriptors and locks end here."""
        if not self.is_asleep:
            self._settings = self.row_factory, self.isolation_level
            super().close()

    def reopen(self):
        """Open the file that replaced the former one when it is used next."""
        self.is_asleep = True

    def _wake(self):
        if self.is_asleep and not self.is_cut:
            self.is_asleep = False
            self._open_again()

    def _open_again(self):
        state = dict(vars(self))
        database, kwargs = self._opened_with
        super().__init__(database, **kwargs)
        vars(self).update(state)
        self.row_factory, self.isolation_level = self._settings
        for pragma in self._pragmas:
            super().execute(pragma)
        for args, kwargs in self._functions:
            super().create_function(*args, **kwargs)
        self.name_file()

    def cursor(self, factory=Cursor):
        self._wake()
        return super().cursor(factory)

    def execute(self, *args):
        # The original makes a cursor without `cursor`, which would pass by the scheduler.
        return self.cursor().execute(*args)

    def executemany(self, *args):
        return self.cursor().executemany(*args)

    def executescript(self, script):
        raise ScriptError(script)

    def commit(self):
        if not self.in_transaction:
            return
        self._end(super().commit)

    def rollback(self):
        if self.is_cut or self.is_asleep:
            return
        super().rollback()
        _disk.unlock(self)

    def close(self):
        if self.is_cut:
            return
        self.cut()

    def cut(self):
        """Close the connection, as the death of its process does."""
        self.is_cut = True
        if self.in_transaction:
            super().rollback()
        super().close()
        _disk.unlock(self)
        _disk.closed(self)

    # ---- what a cursor tells ----

    def prepare(self, sql):
        """A statement is about to be executed."""
        verb, immediate = _kind(sql)
        if verb == 'PRAGMA':
            if '=' in sql and not self.in_transaction:
                self._pragmas.append(sql)
            return
        if self.is_cut:
            kernel.current().point('db: closed')
            raise reported(2013, 'Lost connection')
        kernel.current().point(f'db: {verb}', self.name)
        if verb == 'BEGIN':
            self._linger()
            if immediate:
                _disk.lock(self)
        elif verb not in ENDS:
            self._meet_fault(verb)
            if verb not in READS:
                _disk.lock(self)

    def _linger(self):
        if self._is_served:
            _disk.faults.delay_begin(self.name)

    def _meet_fault(self, verb):
        fate = self._fate('statement', verb)
        if fate is not None:
            self.cut()
            raise reported(*STATEMENTS[fate])

    def _fate(self, kind, what):
        return _disk.faults.draw(kind, what, self.name) if self._is_served else None

    def settle(self):
        """A statement has been executed."""
        if not self.in_transaction and _disk.writers.get(self.path) is self:
            _disk.committed(self)

    def _end(self, commit):
        wrote = _disk.writers.get(self.path) is self
        kernel.current().point('db: COMMIT' if wrote else 'db: read', self.name)
        fate = self._fate('commit', 'COMMIT')
        if fate is None and wrote and faults_module.is_at_work():
            fate = self._fate('work', 'COMMIT')
        when, *error = COMMITS[fate] if fate is not None else (None,)
        if when == BEFORE:
            self.cut()
            raise reported(*error)
        commit()
        if wrote:
            _disk.committed(self)
            kernel.current().point('db: committed', self.name)
        if when == AFTER:
            self.cut()
            raise reported(*error)


def reported(number, text):
    return sqlite3.OperationalError(number, text)


def _connect(database, **kwargs):
    kwargs |= {'timeout': 0, 'check_same_thread': False, 'factory': Connection}
    connection = plain_connect(database, **kwargs)
    _disk.opened(connection)
    return connection


def install(disk):
    """Open all connections of this process on files of `disk`."""
    global _disk
    _disk = disk
    sqlite3.connect = sqlite3.dbapi2.connect = _connect
