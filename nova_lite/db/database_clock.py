"""The clock of the database, which is the same for all processes that compare times.

Leases, wake-ups and heartbeats are written and compared with these expressions, to the
microsecond and in UTC, so that a wrong clock of a process does no harm. SQLite has no server and
uses `runtime.database_now`.
"""

import datetime
import sqlite3
import typing

import sqlalchemy as sa
from sqlalchemy.ext import compiler
from sqlalchemy.sql import functions

from nova_lite import runtime
from nova_lite.db import types

_SQLITE = 'nova_lite_after'


class _After(functions.FunctionElement[datetime.datetime]):
    """The expression of the time in some seconds, by the clock of the database."""

    name = 'nova_lite_after'
    type = types.Time()
    inherit_cache = True


def after(seconds: float | str) -> sa.ColumnElement[datetime.datetime]:
    """Return the expression of the time in `seconds`: a number, or a parameter's name."""
    if isinstance(seconds, str):
        return _After(sa.bindparam(seconds, type_=sa.Float))
    return _After(sa.bindparam(None, float(seconds), type_=sa.Float, unique=True))


_NOW = after(0)


def now() -> sa.ColumnElement[datetime.datetime]:
    """Return the expression of the current time. It is always the same object."""
    return _NOW


def is_over(
    column: sa.ColumnElement[datetime.datetime], longest_s: float
) -> sa.ColumnElement[bool]:
    """Return the condition that a column's time is not in the future.

    A time more than `longest_s` ahead also counts: it was written before the clock was set back.
    """
    return sa.or_(column <= now(), column > after(longest_s))


def read(connection: sa.Connection) -> datetime.datetime:
    """Return the current time, in UTC and without a zone."""
    return connection.execute(sa.select(now())).scalar_one()


@compiler.compiles(_After, 'sqlite')
def _sqlite(element: _After, compiled: sa.sql.compiler.SQLCompiler, **options: typing.Any) -> str:
    # As a subquery it is computed once in a statement, not once for each row.
    return f'(SELECT {_SQLITE}({compiled.process(element.clauses, **options)}))'


@compiler.compiles(_After, 'mysql', 'mariadb')
def _mariadb(element: _After, compiled: sa.sql.compiler.SQLCompiler, **options: typing.Any) -> str:
    return f'(UTC_TIMESTAMP(6) + INTERVAL {compiled.process(element.clauses, **options)} SECOND)'


@compiler.compiles(_After, 'postgresql')
def _postgresql(
    element: _After, compiled: sa.sql.compiler.SQLCompiler, **options: typing.Any
) -> str:
    # Not CURRENT_TIMESTAMP: that is the beginning of the transaction, before its waits.
    seconds = compiled.process(element.clauses, **options)
    return (
        "(timezone('UTC', statement_timestamp())"
        f' + make_interval(secs => CAST({seconds} AS double precision)))'
    )


def prepare_sqlite(dbapi_connection: sqlite3.Connection) -> None:
    """Give a connection to SQLite the function that `after` calls."""
    dbapi_connection.create_function(_SQLITE, 1, _text_after)


def _text_after(seconds: float) -> str:
    """Return the instant in `seconds` as SQLAlchemy stores it."""
    at = runtime.database_now() + datetime.timedelta(seconds=seconds)
    return at.replace(tzinfo=None).isoformat(' ', 'microseconds')
