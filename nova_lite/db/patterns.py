"""Regular expressions that users give: what they may be, and what they may cost.

They are what RE2 understands, which matches in linear time: no back-references, no
look-around. SQLite matches with RE2. A database server has its own dialect and engine:
it may refuse a pattern. Wherever a list of texts is matched, it may take TIME_S.
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

# Below [api] cell_timeout: the user learns that it is the pattern's fault.
TIME_S = 2
# Time is linear in the text and in the pattern as RE2 stores it, where ten characters can
# stand for thousands: with so many bytes a search of 255 characters takes some 30 ms at most.
LARGEST = 1 << 18
MATCHER = 'nova_lite_matcher'
# What the servers' drivers report, see `errors.code`.
BAD = ('2201B', 1139)
LATE = ('57014', 1969)


class BadPattern(exception.Invalid):
    msg = 'A filter is not a valid regular expression, or it repeats too much.'


class SlowPattern(exception.Invalid):
    msg = f'A filter is a regular expression that takes longer than {TIME_S} seconds to match.'


@functools.lru_cache(maxsize=64)
def compiled(pattern: str) -> typing.Any:
    """Return the compiled pattern; its `search` takes linear time. Raises BadPattern."""
    options = re2.Options()
    options.log_errors, options.max_mem = False, LARGEST
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise BadPattern() from error


class Matcher:
    """Matches the texts of one list, for at most TIME_S of processor time in all."""

    def __init__(self) -> None:
        self.spent_s: float = 0

    @property
    def exhausted(self) -> bool:
        return self.spent_s > TIME_S

    def matches(self, pattern: str, text: str) -> bool:
        """Return whether the pattern occurs in the text; raise SlowPattern, BadPattern."""
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

    Raises BadPattern or SlowPattern when the pattern is why the database refuses one.
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
        # Until the end of the transaction.
        connection.exec_driver_sql(f'SET LOCAL statement_timeout = {TIME_S * 1000}')
        yield
    elif dialect.name in ('mysql', 'mariadb') and dialect.is_mariadb:
        connection.exec_driver_sql(f'SET max_statement_time = {TIME_S}')
        try:
            yield
        finally:
            # The limit of a connection that was lost has gone with it.
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
        # SQLite says only that a function of ours has raised something.
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
