"""Undocumented names of SQLAlchemy that we use."""

from collections.abc import Callable
from collections.abc import Sequence
import functools
import typing

from sqlalchemy import engine
from sqlalchemy import util
from sqlalchemy.engine import default
from sqlalchemy.engine import result as results
from sqlalchemy.sql import compiler

from nova_lite.private_apis import guard

LIBRARY = guard.Library('SQLAlchemy', lowest='2.0.43', newest='2.1.9')

LIBRARY.takes(util.LRUCache, '__init__', 'capacity')
LIBRARY.takes(
    engine.Connection,
    '_handle_dbapi_exception',
    *('e', 'statement', 'parameters', 'cursor', 'context'),
)
LIBRARY.keeps(engine.Connection, '_has_events', '_echo')
LIBRARY.has(engine.Engine, '_has_events')
LIBRARY.has(engine.CursorResult, '_metadata')
LIBRARY.has(results.ResultMetaData, '_effective_processors')
LIBRARY.has(default.DefaultExecutionContext, '_expanded_parameters')
LIBRARY.has(compiler.SQLCompiler, '_bind_processors')

LRUCache = util.LRUCache
# What makes a row of what the driver fetched.
MakeRow: typing.TypeAlias = Callable[[Sequence[typing.Any]], engine.Row[typing.Any]]


def backslash_escapes(dialect: engine.Dialect) -> bool | None:
    """Return whether a backslash escapes in a literal; None if no server setting decides."""
    if dialect.name == 'sqlite':
        return None
    LIBRARY.has(type(dialect), '_backslash_escapes')
    found: bool = dialect._backslash_escapes  # type: ignore[attr-defined]  # private
    return found


def is_watched(connection: engine.Connection) -> bool:
    """Return whether events or a log want to know each statement of a connection."""
    return bool(connection._has_events or connection.engine._has_events or connection._echo)


def bind_processors(compiled: compiler.SQLCompiler) -> typing.Mapping[str, typing.Any]:
    """Return {name of a parameter: function that converts its value for the driver}."""
    return compiled._bind_processors


def expanded(context: default.DefaultExecutionContext) -> typing.Mapping[str, list[str]]:
    """Return {name of a parameter that is a list: names of its elements} of an execution."""
    return context._expanded_parameters


def row_maker(result: engine.CursorResult[typing.Any]) -> MakeRow:
    """Return the function that makes the rows of all results of a statement."""
    found = result._metadata
    return functools.partial(engine.Row, found, found._effective_processors, found._key_to_index)


def raise_translated(
    connection: engine.Connection,
    error: BaseException,
    sql: str,
    values: typing.Any,
    cursor: typing.Any,
) -> None:
    """Raise SQLAlchemy's error for an error of the execution of a statement.

    Errors that its driver did not raise are raised as they are, once there is a cursor.
    """
    is_driver = isinstance(error, connection.dialect.loaded_dbapi.Error)
    text = sql if is_driver or cursor is None else None
    connection._handle_dbapi_exception(error, text, values, cursor, None)
