"""MariaDB under the scheduler: connections of PyMySQL, and what the server is asked."""

import _socket
import functools
import re
import socket

import pymysql
from pymysql import connections

from nova_lite import runtime
from tests.fixtures import mariadb
from tests.sim import kernel
from tests.sim.kernel import outside
from tests.sim.world import databases as databases_module
from tests.sim.world import sqlite

WAITING = re.compile(r'thread id (\d+)')
CLOCK = 'UTC_TIMESTAMP('
UNKNOWN_THREAD = 1094
# PyMySQL's limit ends the wait for a lock, by virtual time.
LOCK_WAIT_S = 10**6

_databases = None
_plain = {
    name: getattr(connections.Connection, name)
    for name in ('connect', 'query', 'commit', 'close', '_force_close')
}


class Wire(socket.socket):
    """A real socket. session: of the simulated thread that waits for its answers; None"""

    session = None

    def connect(self, address):
        """Connect past the kernel's guards."""
        _socket.socket.connect(self, address)

    def settimeout(self, value):
        """Limit the wait for a lock, in virtual time; the server itself always answers."""
        if self.session is not None:
            self.session.timeout_s = value

    def recv_into(self, *args):
        """Receive, when the server has answered."""
        if self.session is not None and not _databases.answered(self.session):
            raise TimeoutError('timed out')
        return _socket.socket.recv_into(self, *args)


class Backend:
    """A server. port: on which it listens"""

    scheme = 'mysql+pymysql'
    login = f'{mariadb.USER}:{mariadb.PASSWORD}'

    def __init__(self, port):
        self.address = '127.0.0.1', port
        self._monitor = None

    @classmethod
    def of(cls, server):
        """The backend of a mariadb.MariaDB that has just been started."""
        with server.connect('root', '') as connection, connection.cursor() as cursor:
            cursor.execute(
                "GRANT ALL ON *.* TO '%s'@'%%' IDENTIFIED BY '%s'"
                % (mariadb.USER, mariadb.PASSWORD)
            )
            cursor.execute(f'SET GLOBAL innodb_lock_wait_timeout = {LOCK_WAIT_S}')
        return cls(server.port)

    def install(self, databases):
        """Send the statements of this process's connections to `databases`."""
        global _databases
        _databases = databases
        for name, function in REPLACED.items():
            setattr(connections.Connection, name, function)

    def session_of(self, connection):
        """(database, the server's number of it, descriptor) if it is a connection of ours."""
        if not isinstance(connection, connections.Connection):
            return None
        return connection.db.decode(), connection.thread_id(), connection._sock.fileno()

    def attach(self, connection, session):
        """Record the session of a connection."""
        connection.session = connection._sock.session = session
        session.timeout_s = connection._read_timeout

    # ---- what the server is asked ----

    def _execute(self, sql, args=None):
        if self._monitor is None:
            self._monitor = self._connect()
        with self._monitor.cursor() as cursor:
            cursor.execute(sql, args)
            return cursor.fetchall()

    def _connect(self, database=None):
        host, port = self.address
        return pymysql.connect(
            host=host,
            port=port,
            user='root',
            database=database,
            autocommit=True,
            # Else it reads the certificates of all authorities first.
            ssl_disabled=True,
        )

    def disconnect(self):
        """Close the connection that asks."""
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    def waiting(self):
        """Return the numbers of the sessions that wait for locks.

        Tables of the information schema are up to 100 ms old.
        """
        ((_type, _name, text),) = self._execute('SHOW ENGINE INNODB STATUS')
        transactions = text.partition('LIST OF TRANSACTIONS')[2].split('\n---TRANSACTION ')
        return {
            int(WAITING.search(each)[1]) for each in transactions if 'TRX HAS BEEN WAITING' in each
        }

    def end(self, ident):
        """End a session and wait until it is rolled back."""
        try:
            self._execute(f'KILL CONNECTION {ident}')
        except pymysql.err.MySQLError as error:
            if error.args[0] != UNKNOWN_THREAD:
                raise
        gone = 'SELECT 1 FROM information_schema.processlist WHERE id = %s'
        while self._execute(gone, [ident]):
            outside.pause(1)

    def reader(self, database):
        """See databases.Databases.reader."""
        return Reader(self._connect(database))

    # ---- databases ----

    def create(self, prefix):
        """Make empty databases."""
        self.drop(prefix)
        for name in databases_module.NAMES:
            self._execute(f'CREATE DATABASE `{prefix}{name}` CHARACTER SET utf8mb4')

    def drop(self, prefix):
        """Remove databases. Sessions of a history that has failed may have locks there."""
        self._execute('SET foreign_key_checks = 0')
        for name in databases_module.NAMES:
            users = 'SELECT id FROM information_schema.processlist WHERE db = %s'
            for (ident,) in self._execute(users, [prefix + name]):
                self.end(ident)
            self._execute(f'DROP DATABASE IF EXISTS `{prefix}{name}`')

    def copy(self, source, target):
        """Copy databases in which nothing happens."""
        self.create(target)
        for name in databases_module.NAMES:
            self._execute(f'USE `{target}{name}`')
            for (table,) in self._execute(f'SHOW TABLES FROM `{source}{name}`'):
                ((_name, sql),) = self._execute(f'SHOW CREATE TABLE `{source}{name}`.`{table}`')
                self._execute(sql)
                self._execute(f'INSERT INTO `{table}` SELECT * FROM `{source}{name}`.`{table}`')
        self.disconnect()


class Reader:
    """As a connection of sqlite3 that only reads."""

    def __init__(self, connection):
        self._connection = connection

    def execute(self, sql, args=()):
        """Return the rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql.replace('?', '%s'), args)
            return cursor.fetchall()

    def close(self):
        """Close the connection."""
        self._connection.close()


# ---- what replaces methods of PyMySQL's connections ----


def _connect(self, sock=None):
    if sock is None and kernel.current() is not None:
        if self.host == databases_module.HOST:
            kernel.current().point('db: connect')
            self.db = _databases.prefix + self.db
            # A process of a history may rest in a transaction for any real time.
            self.init_command = None
        sock = Wire()
        sock.connect(_databases.backend.address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _plain['connect'](self, sock)


def _session(connection):
    """The session of a connection; None for one that is being made, or asks the server."""
    return vars(connection).get('session')


def _query(self, sql, unbuffered=False):
    session = _session(self)
    if session is None:
        return _plain['query'](self, sql, unbuffered)
    if not isinstance(sql, str):
        # Of several rows.
        sql = sql.decode(self.encoding)
    fate = _databases.prepare(session, sql)
    if fate is not None:
        _fail(self, fate, *sqlite.STATEMENTS[fate])
    if CLOCK in sql:
        sql = f'SET STATEMENT timestamp = {runtime.database_now().timestamp():.6f} FOR {sql}'
    return _plain['query'](self, sql, unbuffered)


def _commit(self):
    session = _session(self)
    if session is None:
        _plain['commit'](self)
        return
    fate = _databases.prepare_commit(session)
    when, *error = sqlite.COMMITS[fate] if fate is not None else (None,)
    if when == sqlite.BEFORE:
        _fail(self, fate, *error)
    _plain['commit'](self)
    _databases.committed(session)
    if when == sqlite.AFTER:
        _fail(self, fate, *error)


def _fail(self, fate, *error):
    """Raise what the server would report, in the state in which it would be."""
    if fate == 'conflict':
        self.rollback()
    elif fate not in sqlite.REFUSALS:
        self._force_close()
    raise pymysql.err.OperationalError(*error)


def _ended(name):
    """Return a method that closes the connection on the server, too."""

    @functools.wraps(_plain[name])
    def close(self):
        session = _session(self)
        _plain[name](self)
        if session is not None:
            _databases.end(session)

    return close


REPLACED = {
    'connect': _connect,
    'query': _query,
    'commit': _commit,
    'close': _ended('close'),
    '_force_close': _ended('_force_close'),
}
