"""Regular expressions that users give: what they may be, and what they may cost.

They are what RE2 understands, which matches in linear time: no back-references, no
look-around. SQLite matches with RE2. A database server has its own dialect and engine:
it may refuse a pattern, and it is given TIME_S to match one.
"""

import contextlib
import functools

import re2
from sqlalchemy.sql import operators

from nova_lite import exception
from nova_lite.db import errors

# Below [api] cell_timeout: the user learns that it is the pattern's fault.
TIME_S = 2
# What the servers' drivers report, see `errors.code`.
BAD = ('2201B', 1139)
LATE = ('57014', 1969)


class BadPattern(exception.Invalid):
    msg = 'A filter is not a valid regular expression.'


class SlowPattern(exception.Invalid):
    msg = f'A filter is a regular expression that takes longer than {TIME_S} seconds to match.'


@functools.lru_cache(maxsize=64)
def compiled(pattern):
    """Return the compiled pattern; its `search` takes linear time. Raises BadPattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        raise BadPattern() from error


def prepare_sqlite(dbapi_connection):
    """Have a connection match with RE2; SQLAlchemy lets Python's own engine do it."""
    dbapi_connection.create_function('regexp', 2, _matches, deterministic=True)


def _matches(pattern, text):
    return None if text is None else compiled(pattern).search(str(text)) is not None


@contextlib.contextmanager
def bounded(connection, conditions):
    """Limit the time of the queries inside, if one of the conditions is a pattern.

    Raises BadPattern or SlowPattern when the pattern is why the database refuses one.
    """
    if not any(_is_pattern(condition) for condition in conditions):
        yield
        return
    with _refused(), _time_limit(connection):
        yield


def _is_pattern(condition):
    return getattr(condition, 'operator', None) is operators.regexp_match_op


@contextlib.contextmanager
def _time_limit(connection):
    dialect = connection.dialect
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
    else:
        yield


@contextlib.contextmanager
def _refused():
    try:
        yield
    except errors.ERRORS as error:
        code = errors.code(error)
        if code in BAD:
            raise BadPattern() from error
        if code in LATE:
            raise SlowPattern() from error
        raise
