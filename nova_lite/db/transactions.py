"""Database: one database, and transactions on it.

A transaction is a function that takes a connection first. It may run more than
once (deadlock, lost connection), so it must have no other effects.
"""

from collections.abc import Callable
import functools
import sqlite3
import typing

from oslo_config import cfg
from oslo_db.sqlalchemy import exc_filters
import sqlalchemy
from sqlalchemy import pool

from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.db import counting
from nova_lite.db import database_clock
from nova_lite.db import errors
from nova_lite.db import known
from nova_lite.db import notes
from nova_lite.db import patterns
from nova_lite.db import rested
from nova_lite.db import timeouts
from nova_lite.dialects import compiled
from nova_lite.dialects import mariadb_url
from nova_lite.dialects import plain_errors
from nova_lite.dialects import sqlite
from nova_lite.dialects import sqlite_pool
from nova_lite.dialects import writing

# How often a transaction is repeated after a deadlock, and the pauses in seconds.
ATTEMPTS = 10
FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 1.0
# Seconds after which a connection is replaced by a new one.
RECYCLE_S = 3600
POOL_TIMEOUT_S = 30
# Otherwise a transaction that waited for a lock would read the state before the wait, and for
# example count an old usage. It is set on each connection, whatever the URL has.
ISOLATION: typing.Final = 'READ COMMITTED'

P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# A function of a transaction.
Function: typing.TypeAlias = Callable[typing.Concatenate[sqlalchemy.Connection, P], T]


def limits(conf: cfg.ConfigOpts) -> timeouts.Limits | None:
    """Return the Limits that the configuration sets for all databases."""
    options = conf.database
    return (
        timeouts.Limits(options.connect_timeout, options.read_timeout)
        if options.read_timeout
        else None
    )


class Database:
    """A database by its SQLAlchemy URL. It connects on first use.

    A transaction raises Unavailable, which is transient, if the server cannot run it
    now. The error's kwargs contain `may_have_committed` if the result of COMMIT is unknown.

    threads: number of connections, which limits concurrent transactions
    limits: timeouts; None: no timeouts (migrations)
    of: the Incarnation of the transactions; None: the current one
    watcher: notes.Watcher, which sends the notes of transactions; or None
    """

    watcher: notes.Watcher | None = None
    _count: counting.Transactions

    def __init__(
        self,
        url: str,
        threads: int = 16,
        *,
        limits: timeouts.Limits | None = None,
        of: incarnation.Incarnation | None = None,
    ) -> None:
        self.url = url
        self._threads = threads
        self._limits = limits
        self._incarnation = of or incarnation.current()
        self._engine: sqlalchemy.Engine | None = None
        self._lock = runtime.Lock()

    @property
    def engine(self) -> sqlalchemy.Engine:
        if self._engine is None:
            # One thread opens the first connection. The others wait no longer than its timeout.
            wait_s = sum(self._limits) if self._limits else -1
            if not self._lock.acquire(timeout=wait_s):
                raise exception.Unavailable(service='The database', reason='it does not answer')
            try:
                self._engine = self._engine or self._connect()
            finally:
                self._lock.release()
        return self._engine

    def _connect(self) -> sqlalchemy.Engine:
        try:
            sqlalchemy.make_url(self.url)
        except ValueError as error:
            # The port is not a number. Other malformed URLs raise SQLAlchemy's own error.
            raise sqlalchemy.exc.ArgumentError('The URL of a database is malformed') from error
        if self.url.startswith('sqlite'):
            engine = _sqlite_engine(self.url, self._threads)
        else:
            wait_s = self._limits.answer_s if self._limits else POOL_TIMEOUT_S
            engine = _server_engine(_with_options(self.url, self._limits), self._threads, wait_s)
            if self._limits and timeouts.FIRST in sqlalchemy.make_url(self.url).query:
                timeouts.end_idle(engine, self._limits)
        self._count = counting.count(engine)
        return engine

    def write(
        self,
        function: Function[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `function(connection, ...)` as one transaction that may write."""
        return self._run(True, function, args, kwargs)

    def read(
        self,
        function: Function[P, T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `function(connection, ...)`, which must neither write nor lock rows. Raise Refused.

        With SQLite all statements read one state of the database. With a server each statement
        reads the state that is committed when it begins.
        """
        return self._run(False, function, args, kwargs)

    def _run(
        self,
        writes: bool,
        function: Callable[..., T],
        args: tuple[typing.Any, ...],
        kwargs: dict[str, typing.Any],
    ) -> T:
        began, lost, conflicts = runtime.monotonic(), 0, 0
        while True:
            try:
                with self._incarnation.passing(self.url):
                    result, tell = self._transaction(writes, function, args, kwargs)
                break
            except _Lost as error:
                lost += 1
                # A closed connection is noticed at once. A server that hangs is not tried twice.
                if lost > 1 or runtime.monotonic() - began > rested.RESTED_S:
                    raise self._unavailable(error.__cause__) from error.__cause__
            except _Conflict as error:
                conflicts += 1
                if conflicts > ATTEMPTS:
                    raise self._unavailable(error.__cause__) from error.__cause__
                pause_s = min(FIRST_PAUSE_S * 2**conflicts, LONGEST_PAUSE_S)
                runtime.sleep(runtime.random().uniform(0, pause_s))
        if tell is not None:
            tell()
        return result

    def _transaction(
        self,
        writes: bool,
        function: Callable[..., T],
        args: tuple[typing.Any, ...],
        kwargs: dict[str, typing.Any],
    ) -> tuple[T, Callable[[], None] | None]:
        with self._open() as connection:
            info, ended = connection.info, False
            info[known.KNOWN] = {}
            writing.declare(info, writes)
            try:
                with connection.begin():
                    result = self._noted(connection, writes, function, args, kwargs)
                    self._incarnation.check()
                    ended = True
                self._count.add(writes=writes)
                return result
            except errors.ERRORS as error:
                self._translate(connection, error, ended, writes)
                raise
            finally:
                # The dictionary belongs to the connection, which the pool reuses. It is not read
                # again: with a lost connection that would hide the error.
                info.pop(known.KNOWN, None)
                writing.forget(info)

    def _translate(
        self, connection: sqlalchemy.Connection, error: Exception, ended: bool, writes: bool
    ) -> None:
        """Raise the NovaLiteError for an error of a transaction. Return for a defect.

        ended: whether COMMIT raised the error; writes: whether the transaction may have written
        """
        if errors.is_read_only(error):
            # Connections to a server that was demoted would stay open for RECYCLE_S.
            self.dispose()
        kind = errors.classify(error)
        if ended or kind is errors.Kind.LOST:
            # SQLAlchemy sends no ROLLBACK after a failed COMMIT, and does not know all errors
            # after which a connection is unusable.
            connection.invalidate()
        if ended and writes and errors.may_have_committed(error):
            raise self._unavailable(error, may_have_committed=True) from error
        if kind is errors.Kind.LOST:
            # The error came before the commit, so the transaction had no effect.
            raise _Lost() from error
        if kind is errors.Kind.CONFLICT:
            raise _Conflict() from error
        if kind is errors.Kind.BUSY:
            raise self._unavailable(error) from error

    def _noted(
        self,
        connection: sqlalchemy.Connection,
        writes: bool,
        function: Callable[..., T],
        args: tuple[typing.Any, ...],
        kwargs: dict[str, typing.Any],
    ) -> tuple[T, Callable[[], None] | None]:
        """Run the function. Return its result, and a function to call after the commit, or None."""
        watcher = self.watcher
        if not writes or watcher is None or not watcher.wants():
            return function(connection, *args, **kwargs), None
        pending, info = notes.PendingNotes(watcher), connection.info
        info[notes.KEY] = pending
        try:
            result = function(connection, *args, **kwargs)
            if not pending.notes:
                return result, None
            return result, functools.partial(watcher.send, watcher.read(connection, pending.notes))
        finally:
            # The pool passes the connection on with this dictionary. It is not read from the
            # connection again: if that was lost, this would hide the error.
            info.pop(notes.KEY, None)

    def _open(self) -> sqlalchemy.Connection:
        """Return a connection. Raise Unavailable, also if none becomes free in time."""
        try:
            return self.engine.connect()
        except (sqlalchemy.exc.OperationalError, sqlalchemy.exc.TimeoutError) as error:
            # Whatever the server says while it is connected to, such as that it starts.
            raise self._unavailable(error) from error
        except errors.ERRORS as error:
            if errors.classify(error) is None:
                raise
            raise self._unavailable(error) from error

    def _unavailable(
        self, error: BaseException | None, **facts: typing.Any
    ) -> exception.Unavailable:
        """Return an Unavailable. facts: for its kwargs

        Its reason is one line, which is what each failure takes in a log. It names a file.
        """
        reason = ' '.join(line.strip() for line in str(error).splitlines())
        if self.url.startswith('sqlite'):
            reason = f'{sqlalchemy.make_url(self.url).database}: {reason}'
        if error is not None and errors.is_full(error):
            return exception.DiskFull(service='the database', reason=reason, **facts)
        return exception.Unavailable(service='The database', reason=reason, **facts)

    def dispose(self) -> None:
        """Close the connections; the next transaction opens new ones."""
        if self._engine is not None:
            self._engine.dispose()


class _Lost(Exception):
    """The connection was lost within a transaction, which may be made again."""


class _Conflict(Exception):
    """The server rolled a transaction back in favour of another; it may be made again."""


def _with_options(url: str, limits: timeouts.Limits | None) -> str:
    """Return the URL with our options for its driver, unless it names them itself."""
    found = mariadb_url.completed(sqlalchemy.make_url(url), sql_mode='TRADITIONAL')
    options = timeouts.options(found, limits) if limits is not None else {}
    if 'options' in options and 'options' in found.query:
        # Of PostgreSQL's server: the later one of two settings is in force.
        both = f'{options["options"]} {found.query["options"]}'
        found = found.update_query_dict({'options': both})
    return found.set(query={**options, **found.query}).render_as_string(hide_password=False)


def _server_engine(url: str, threads: int, wait_s: float) -> sqlalchemy.Engine:
    """Return an engine that sends a server few messages besides statements.

    oslo.db's own tries each connection before each use, and SQLAlchemy's pool rolls it
    back after each: both twice the messages of a short transaction. Ours end by
    themselves, and only connections that have rested are tried. Over MariaDB, transactions
    that only read have neither a beginning nor an end. The connection that was used last is
    used next: the server has its thread and memory at hand, and the others may rest.

    wait_s: how long a transaction waits for a free connection
    """
    engine = sqlalchemy.create_engine(
        url,
        pool_size=threads,
        max_overflow=threads,
        pool_timeout=wait_s,
        pool_use_lifo=True,
        pool_recycle=RECYCLE_S,
        pool_reset_on_return=None,
        isolation_level=ISOLATION,
        hide_parameters=True,
    )
    _prepare(engine)
    if engine.dialect.driver == 'pymysql':
        # A cloud without a database server does not wait for the import of PyMySQL.
        from nova_lite.dialects import mariadb

        mariadb.use(engine)
        mariadb.spare_ends(engine)
    rested.try_first(engine)
    return engine


def _sqlite_engine(url: str, threads: int) -> sqlalchemy.Engine:
    """Return an engine that makes SQLite fit for concurrent writers.

    Write-ahead log, so readers do not wait; and a writing transaction takes its
    lock at once, since one that begins by reading cannot wait for the lock later.
    oslo.db's own engine would open the file again for each transaction.
    """
    engine = sqlalchemy.create_engine(
        sqlite.with_dialect(sqlalchemy.make_url(url)),
        poolclass=pool.QueuePool,
        pool_use_lifo=True,
        pool_size=threads,
        max_overflow=threads * 4,
        pool_reset_on_return=None,
        connect_args=sqlite.ARGUMENTS,
        hide_parameters=True,
    )
    sqlite_pool.close_rested(engine.pool)
    _prepare(engine)

    @sqlalchemy.event.listens_for(engine, 'connect')
    def connected(dbapi_connection: sqlite3.Connection, record: pool.ConnectionPoolEntry) -> None:
        dbapi_connection.isolation_level = None
        database_clock.prepare_sqlite(dbapi_connection)
        patterns.prepare_sqlite(dbapi_connection, record.info)
        cursor = dbapi_connection.cursor()
        cursor.execute('PRAGMA journal_mode=WAL')
        cursor.execute('PRAGMA synchronous=NORMAL')
        cursor.close()

    return engine


def _prepare(engine: sqlalchemy.Engine) -> None:
    """Make an engine share statements, raise oslo.db's exceptions without them, and guard reads.

    oslo.db registers further events, to give an error of a savepoint its cause, which we
    do not read. An engine that has none, as ours, spends a tenth less on each statement.
    """
    plain_errors.use(engine)
    sqlalchemy.event.listen(engine, 'handle_error', exc_filters.handler, retval=True)
    compiled.share(engine)
    writing.guard(engine)
