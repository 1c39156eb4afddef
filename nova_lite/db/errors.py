"""Classify errors of SQLite, MariaDB and PostgreSQL by error number and SQLSTATE.

oslo.db translates errors by the text of their messages and passes on unknown ones. The reaction to
an error depends on the code that the driver reports.
"""

import enum
import sqlite3

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite.dialects import full_disks


class Kind(enum.Enum):
    """The meaning of an error for its transaction."""

    LOST = 'the connection is of no use; a new one may be'
    CONFLICT = 'rolled back in favour of another transaction; repeating it may succeed'
    BUSY = 'the server cannot do it now'


# The errors of statements and transactions: classes of oslo.db and of SQLAlchemy.
ERRORS = (db_exception.DBError, sa.exc.DBAPIError)

_MARIADB = {
    1213: Kind.CONFLICT,
    **dict.fromkeys(
        (
            1047,  # a node of a Galera cluster that is not in service
            1053,  # server shutdown in progress
            1927,  # the connection was killed
            2002,
            2003,
            2006,
            2013,
            2055,
            4031,  # disconnected for inactivity
        ),
        Kind.LOST,
    ),
    **dict.fromkeys(
        (
            1021,  # disk full
            1040,  # too many connections
            1041,  # out of memory
            1135,  # cannot create a thread
            1203,  # too many connections of this user
            1205,  # lock wait timeout
            1226,  # resource limit of this user
            1317,  # the query was killed
            1637,  # too many concurrent transactions
            1969,  # max_statement_time
            3024,  # the same of MySQL
            3572,  # a lock that is not waited for
        ),
        Kind.BUSY,
    ),
}
# A replica, or a primary that was demoted while connections to it were open.
_MARIADB_READ_ONLY = (1290, 1792, 1836)
_POSTGRESQL_READ_ONLY = '25006'
_POSTGRESQL = {
    '08': Kind.LOST,
    '25P03': Kind.LOST,  # idle in transaction for too long
    '40': Kind.CONFLICT,
    '40003': Kind.LOST,  # statement completion unknown
    '53': Kind.BUSY,  # insufficient resources
    '55P03': Kind.BUSY,  # lock not available
    '57014': Kind.BUSY,  # statement timeout, or canceled by an operator
    '57P0': Kind.LOST,  # shutdown, crash, start
}
_SQLITE = dict.fromkeys(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_FULL,
        # Of the file system, such as no space for the index of the log, or read-only.
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        # Damaged files. The check before a start names the file.
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PROTOCOL,
    ),
    Kind.BUSY,
)


def classify(error: BaseException) -> Kind | None:
    """Return the Kind of an error of a transaction; None for a defect of ours."""
    if is_read_only(error):
        return Kind.LOST
    kind = _of_driver(error)
    if kind is not None:
        return kind
    if isinstance(error, db_exception.DBConnectionError):
        return Kind.LOST
    if isinstance(error, db_exception.DBDeadlock):
        return Kind.CONFLICT
    return Kind.BUSY if isinstance(error, db_exception.DBNonExistentDatabase) else None


def is_read_only(error: BaseException) -> bool:
    """Return whether the server refuses writes, because another server accepts them."""
    cause = _cause(error)
    return _number(cause) in _MARIADB_READ_ONLY or _sqlstate(cause) == _POSTGRESQL_READ_ONLY


def is_full(error: BaseException) -> bool:
    """Return whether the disk of the database has no space left."""
    return full_disks.is_full(_cause(error))


def may_have_committed(error: BaseException) -> bool:
    """Return whether the result of a COMMIT that raised the error is unknown.

    Constraints that are checked at COMMIT roll the transaction back.
    """
    inner = getattr(error, 'inner_exception', error)
    return classify(error) is not Kind.CONFLICT and not isinstance(inner, sa.exc.IntegrityError)


def code(error: BaseException) -> int | str | None:
    """Return MariaDB's error number or PostgreSQL's SQLSTATE; None for other errors.

    PyMySQL also reports an SQLSTATE, which is less precise.
    """
    cause = _cause(error)
    number = _number(cause)
    return _sqlstate(cause) if number is None else number


def _of_driver(error: BaseException) -> Kind | None:
    cause = _cause(error)
    extended = getattr(cause, 'sqlite_errorcode', None)
    if extended is not None:
        # Extended codes keep the primary one in their lowest byte.
        return _SQLITE.get(extended & 0xFF)
    number = _number(cause)
    if number is not None:
        return _MARIADB.get(number)
    state = _sqlstate(cause)
    if state is not None:
        return next(
            (_POSTGRESQL[state[:size]] for size in (5, 4, 2) if state[:size] in _POSTGRESQL), None
        )
    if hasattr(cause, 'sqlstate') and isinstance(_inner(error), sa.exc.OperationalError):
        # An error of libpq or of nova_lite.db.postgresql: the connection is lost.
        return Kind.LOST
    return None


def _inner(error: BaseException) -> BaseException:
    return getattr(error, 'inner_exception', None) or error


def _cause(error: BaseException) -> BaseException:
    """Return the driver's own error."""
    inner = _inner(error)
    return getattr(inner, 'orig', None) or inner


def _sqlstate(cause: BaseException) -> str | None:
    return getattr(cause, 'sqlstate', None)


def _number(cause: BaseException) -> int | None:
    """Return MariaDB's error number, the first argument of PyMySQL's errors."""
    number = cause.args[0] if cause.args else None
    return number if isinstance(number, int) else None
