"""Regular expressions of users, with limits of their syntax and their time.

The syntax is that of RE2, which matches in linear time: no back-references, no look-around. SQLite
matches with RE2. A database server has its own dialect and engine, and may refuse a pattern. A
match of a list of texts may take TIME_S.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import functools
import sqlite3
import typing

import re2
import sqlalchemy as sa
from sqlalchemy.sql import operators

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import errors
from nova_lite.db import rows

# It is below [api]cell_timeout, so that the user gets an error about the pattern.
TIME_S = 2
# The time is linear in the text and in the compiled pattern, where ten characters can stand for
# thousands. With so many bytes a search in 255 characters takes 30 ms at most.
LARGEST = 1 << 18
MATCHER = 'nova_lite_matcher'
# The codes that the drivers of the servers report, see `errors.code`.
BAD = ('2201B', 1139)
LATE = ('57014', 1969)


class BadPattern(exception.Invalid):
    msg = 'A filter is not a valid regular expression, or it repeats too much.'


class SlowPattern(exception.Invalid):
    msg = f'A filter is a regular expression that takes longer than {TIME_S} seconds to match.'


@functools.lru_cache(maxsize=64)
def compiled(pattern: str) -> typing.Any:
    """Return the compiled pattern, whose `search` takes linear time. Raise BadPattern."""
    options = re2.Options()
    options.log_errors, options.max_mem = False, LARGEST
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise BadPattern() from error


class Matcher:
    """Matches the texts of one list, in at most TIME_S of processor time together."""

    def __init__(self) -> None:
        self.spent_s: float = 0

    @property
    def exhausted(self) -> bool:
        return self.spent_s > TIME_S

    def matches(self, pattern: str, text: str) -> bool:
        """Return whether the pattern occurs in the text. Raise SlowPattern, BadPattern."""
        if self.exhausted:
            raise SlowPattern()
        began = runtime.cpu_time()
        found = compiled(pattern).search(text) is not None
        self.spent_s += runtime.cpu_time() - began
        return found


def prepare_sqlite(
    dbapi_connection: sqlite3.Connection, info: dict[typing.Any, typing.Any]
) -> None:
    """Make a connection match with RE2 instead of Python's engine.

    info: the dictionary that belongs to the connection
    """
    matcher = info[MATCHER] = Matcher()

    def matches(pattern: str, text: object) -> bool | None:
        return None if text is None else matcher.matches(pattern, str(text))

    dbapi_connection.create_function('regexp', 2, matches, deterministic=True)


@contextlib.contextmanager
def bounded(connection: sa.Connection, conditions: Iterable[rows.Condition]) -> Iterator[None]:
    """Limit the time of the queries inside, if one of the conditions is a pattern.

    Raises BadPattern or SlowPattern if the database refuses a query because of the pattern.
    """
    if not any(_is_pattern(condition) for condition in conditions):
        yield
        return
    with _refused(), _time_limit(connection):
        yield


def _is_pattern(condition: rows.Condition) -> bool:
    return getattr(condition, 'operator', None) is operators.regexp_match_op


@contextlib.contextmanager
def _time_limit(connection: sa.Connection) -> Iterator[None]:
    dialect: typing.Any = connection.dialect
    if dialect.name == 'postgresql':
        # The limit is valid until the end of the transaction.
        connection.exec_driver_sql(f'SET LOCAL statement_timeout = {TIME_S * 1000}')
        yield
    elif dialect.name in ('mysql', 'mariadb') and dialect.is_mariadb:
        connection.exec_driver_sql(f'SET max_statement_time = {TIME_S}')
        try:
            yield
        finally:
            # A lost connection has lost its limit.
            if not connection.invalidated:
                connection.exec_driver_sql('SET max_statement_time = DEFAULT')
    elif dialect.name == 'sqlite':
        with _limited(connection.info[MATCHER]):
            yield
    else:
        yield


@contextlib.contextmanager
def _limited(matcher: Matcher) -> Iterator[None]:
    matcher.spent_s = 0
    try:
        yield
    except errors.ERRORS as error:
        # SQLite only reports that a function of ours has raised an error.
        if matcher.exhausted:
            raise SlowPattern() from error
        raise


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except errors.ERRORS as error:
        code = errors.code(error)
        if code in BAD:
            raise BadPattern() from error
        if code in LATE:
            raise SlowPattern() from error
        raise
