"""PostgreSQL under the scheduler: connections of psycopg, and what the server is asked."""

import contextlib
import re

import psycopg
from psycopg import waiting

from nova_lite import runtime
from tests.fixtures import postgresql
from tests.sim import kernel
from tests.sim.kernel import outside
from tests.sim.world import databases as databases_module
from tests.sim.world import sqlite

CLOCK = 'statement_timestamp()'
# The server would count it in real time. It does nothing with settings that have a prefix.
TIMEOUT = re.compile(r'-c statement_timeout=(\d+)s')
# A process of a history may rest in a transaction for any real time.
IDLE = re.compile(r'-c idle_in_transaction_session_timeout=\d+s')
COUNTED = re.compile(r'-c simulated\.statement_timeout=(\d+)s')
STILL_WAITING = b'still waiting'
# What a session logs of a lock: once it has looked for a deadlock, and at the end of its wait.
WAITS = re.compile(rb'process (\d+) (still waiting|acquired|failed|detected deadlock)')
EVENTS = {waiting.Wait.R: outside.READ, waiting.Wait.W: outside.WRITE}
# What a server reports for the fates of sqlite.COMMITS and sqlite.STATEMENTS. An error
# without an SQLSTATE is libpq's.
LOST = (psycopg.OperationalError, 'server closed the connection unexpectedly')
CONFLICT = (psycopg.errors.DeadlockDetected, 'deadlock detected')
SHUTDOWN = (psycopg.errors.AdminShutdown, 'terminating connection due to administrator command')
COMMITS = {
    'lost before': LOST,
    'lost after': LOST,
    'conflict': CONFLICT,
    'busy': (psycopg.errors.DiskFull, 'could not extend file'),
    'read-only': (
        psycopg.errors.ReadOnlySqlTransaction,
        'cannot execute COMMIT in a read-only transaction',
    ),
    'killed after': SHUTDOWN,
    'shutdown': SHUTDOWN,
}
STATEMENTS = {
    'lost': LOST,
    'conflict': CONFLICT,
    'busy': (psycopg.errors.QueryCanceled, 'canceling statement due to statement timeout'),
    'locked': (psycopg.errors.LockNotAvailable, 'could not obtain lock on row'),
    'full': (psycopg.errors.TooManyConnections, 'sorry, too many clients already'),
    'read-only': (
        psycopg.errors.ReadOnlySqlTransaction,
        'cannot execute UPDATE in a read-only transaction',
    ),
    'shutdown': SHUTDOWN,
}

_databases = None
_plain = {
    (psycopg.Connection, 'wait'): psycopg.Connection.wait,
    (psycopg.Connection, 'commit'): psycopg.Connection.commit,
    (psycopg.Connection, 'close'): psycopg.Connection.close,
    (psycopg.Connection, '_get_connection_params'): psycopg.Connection._get_connection_params,
    (psycopg.Cursor, 'execute'): psycopg.Cursor.execute,
    (psycopg.Cursor, 'executemany'): psycopg.Cursor.executemany,
}


class Backend:
    """A server. port: on which it listens; log: path of its log"""

    scheme = 'postgresql+psycopg'
    login = f'{postgresql.USER}:{postgresql.PASSWORD}'

    def __init__(self, port, log):
        self.address = {'host': '127.0.0.1', 'port': port}
        self._monitor = None
        self._log = log
        self._read = log.stat().st_size
        # Which have found that they wait in no deadlock.
        self._in_line = set()

    @classmethod
    def of(cls, server):
        """The backend of a postgresql.PostgreSQL that has just been started."""
        server.create_database('first')
        with server.connect('root', '') as connection:
            # A statement says in the log that it waits once it has looked for a deadlock.
            connection.execute("ALTER SYSTEM SET deadlock_timeout = '1ms'")
            connection.execute('ALTER SYSTEM SET log_lock_waits = on')
            connection.execute('SELECT pg_reload_conf()')
        return cls(server.port, server.daemon.log)

    def install(self, databases):
        """Send the statements of this process's connections to `databases`."""
        global _databases
        _databases = databases
        for (owner, name), function in REPLACED.items():
            setattr(owner, name, function)

    def session_of(self, connection):
        """(database, the server's number of it, descriptor) if it is a connection of ours."""
        if not isinstance(connection, psycopg.Connection):
            return None
        return connection.info.dbname, connection.info.backend_pid, connection.fileno()

    def attach(self, connection, session):
        """Record the session of a connection."""
        connection.session = session
        limit = COUNTED.search(connection.info.get_parameters().get('options', ''))
        session.timeout_s = int(limit[1]) if limit else None

    # ---- what the server is asked ----

    def _execute(self, sql, args=None):
        if self._monitor is None:
            self._monitor = self._connect()
        cursor = self._monitor.execute(sql, args)
        return cursor.fetchall() if cursor.description else []

    def _connect(self, database='postgres'):
        made = psycopg.connect(user='root', dbname=database, autocommit=True, **self.address)
        # How often it asks depends on the server's speed, so that it may pass no points.
        made.lock = contextlib.nullcontext()
        return made

    def disconnect(self):
        """Close the connection that asks."""
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    def waiting(self):
        """Return the numbers of the sessions that wait for locks, and in no deadlock.

        Who waits looks for a deadlock once, and is its victim. That a session waits is
        said after that, so that which of two is the victim depends on no processor.
        """
        rows = self._execute('SELECT pid FROM pg_locks WHERE NOT granted')
        self._follow_log()
        return self._in_line.intersection(ident for (ident,) in rows)

    def _follow_log(self):
        with self._log.open('rb') as log:
            log.seek(self._read)
            # Other sessions write there too: a line may not be whole yet.
            text = log.read()
        whole = text[: text.rfind(b'\n') + 1]
        self._read += len(whole)
        for ident, waits in WAITS.findall(whole):
            change = self._in_line.add if waits == STILL_WAITING else self._in_line.discard
            change(int(ident))

    def end(self, ident):
        """End a session and wait until it is rolled back."""
        self._execute('SELECT pg_terminate_backend(%s)', [ident])
        while self._execute('SELECT 1 FROM pg_stat_activity WHERE pid = %s', [ident]):
            outside.pause(1)

    def cancel(self, ident):
        """Cancel the statement of a session in the server."""
        self._execute('SELECT pg_cancel_backend(%s)', [ident])
        # It logs nothing of that.
        self._in_line.discard(ident)

    def reader(self, database):
        """See databases.Databases.reader."""
        return Reader(self._connect(database))

    # ---- databases ----

    def create(self, prefix):
        """Make empty databases."""
        for name in databases_module.NAMES:
            self._create(prefix + name, 'template1')

    def _create(self, name, template):
        self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self._execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{template}" OWNER {postgresql.USER}'
            ' STRATEGY FILE_COPY'
        )

    def drop(self, prefix):
        """Remove databases."""
        for name in databases_module.NAMES:
            self._execute(f'DROP DATABASE IF EXISTS "{prefix}{name}" WITH (FORCE)')

    def copy(self, source, target):
        """Copy databases in which nothing happens."""
        for name in databases_module.NAMES:
            self._create(target + name, source + name)


class Reader:
    """As a connection of sqlite3 that only reads."""

    def __init__(self, connection):
        self._connection = connection

    def execute(self, sql, args=()):
        """Return the rows."""
        return self._connection.execute(sql.replace('?', '%s'), args).fetchall()

    def close(self):
        """Close the connection."""
        self._connection.close()


# ---- what replaces methods of psycopg's connections and cursors ----


def _session(connection):
    """The session of a connection; None for one that is being made, or asks the server."""
    return vars(connection).get('session')


def _parameters(conninfo, **given):
    """The parameters of a connection: to the server itself, to a history's database."""
    found = _plain[psycopg.Connection, '_get_connection_params'](conninfo, **given)
    if found.get('host') == databases_module.HOST:
        kernel.current().point('db: connect')
        found |= _databases.backend.address
        found['dbname'] = _databases.prefix + found['dbname']
        options = found.get('options', '')
        options = IDLE.sub('', options)
        found['options'] = TIMEOUT.sub(r'-c simulated.statement_timeout=\1s', options)
    return found


def _wait(self, gen, *args, **kwargs):
    session = _session(self)
    if session is None:
        return _plain[psycopg.Connection, 'wait'](self, gen, *args, **kwargs)
    try:
        wanted = next(gen)
        while True:
            wanted = gen.send(_ready(session, wanted))
    except StopIteration as end:
        return end.value


def _ready(session, wanted):
    """Wait for what psycopg waits for, and return what is ready."""
    if wanted & waiting.Wait.W:
        events = sum(event for way, event in EVENTS.items() if way & wanted)
        found = session.descriptor.ready(events)
        return waiting.Ready(sum(way for way, event in EVENTS.items() if event & found))
    while not _databases.answered(session):
        _databases.backend.cancel(session.ident)
    return waiting.Ready.R


def _execute(self, query, params=None, **kwargs):
    query = _prepared(self.connection, query)
    return _plain[psycopg.Cursor, 'execute'](self, query, params, **kwargs)


def _executemany(self, query, *args, **kwargs):
    query = _prepared(self.connection, query)
    return _plain[psycopg.Cursor, 'executemany'](self, query, *args, **kwargs)


def _prepared(connection, query):
    """Come to the scheduling point before a statement; return it with the virtual time."""
    session = _session(connection)
    if session is None:
        return query
    if not isinstance(query, str):
        # Of psycopg's own, about types.
        query = query.as_string(connection)
    fate = _databases.prepare(session, query)
    if fate is not None:
        _fail(connection, fate, *STATEMENTS[fate])
    if CLOCK in query:
        now = f"TIMESTAMPTZ '{runtime.database_now().isoformat()}'"
        query = query.replace(CLOCK, now)
    return query


def _commit(self):
    session = _session(self)
    plain = _plain[psycopg.Connection, 'commit']
    if session is None:
        plain(self)
        return
    fate = _databases.prepare_commit(session)
    when = sqlite.COMMITS[fate][0] if fate is not None else None
    if when == sqlite.BEFORE:
        _fail(self, fate, *COMMITS[fate])
    plain(self)
    _databases.committed(session)
    if when == sqlite.AFTER:
        _fail(self, fate, *COMMITS[fate])


def _fail(connection, fate, error, text):
    """Raise what the server would report, in the state in which it would be."""
    if fate == 'conflict' or fate in sqlite.REFUSALS:
        # The server carries out nothing more of the transaction.
        connection.rollback()
    else:
        connection.close()
    raise error(text)


def _close(self):
    session = _session(self)
    _plain[psycopg.Connection, 'close'](self)
    if session is not None:
        _databases.end(session)


REPLACED = {
    (psycopg.Connection, 'wait'): _wait,
    (psycopg.Connection, 'commit'): _commit,
    (psycopg.Connection, 'close'): _close,
    (psycopg.Connection, '_get_connection_params'): staticmethod(_parameters),
    (psycopg.Cursor, 'execute'): _execute,
    (psycopg.Cursor, 'executemany'): _executemany,
}
