"""Executes statements, and returns the part of the result that callers need.

The statements are constants of their modules or are built once, see `nova_lite.db.rows`: SQLAlchemy
finds the compiled statement by the statement itself.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

import sqlalchemy as sa

Parameters: typing.TypeAlias = Mapping[str, typing.Any]
Row: typing.TypeAlias = sa.Row[*tuple[typing.Any, ...]]

_NONE: Parameters = {}
# Maximum length of a list that is filled: servers limit the parameters of a statement.
LONGEST_FILLED = 1024


def every(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> list[Row]:
    """Return all rows of a query."""
    return list(connection.execute(statement, given).all())


def first(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> Row | None:
    """Return the first row of a query, or None."""
    return connection.execute(statement, given).first()


def one(connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE) -> Row:
    """Return the first row of a query that always has one."""
    found = first(connection, statement, given)
    if found is None:
        raise sa.exc.NoResultFound()
    return found


def values(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> list[typing.Any]:
    """Return the first column of all rows of a query."""
    return [row[0] for row in every(connection, statement, given)]


def value(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> typing.Any:
    """Return the first column of the first row of a query; None if there is no row."""
    found = first(connection, statement, given)
    return None if found is None else found[0]


def change(connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE) -> int:
    """Execute an UPDATE or DELETE; return how many rows it changed."""
    return connection.execute(statement, given).rowcount


def insert(connection: sa.Connection, statement: sa.Executable, given: Parameters) -> None:
    """Insert one row."""
    connection.execute(statement, given)


def filled(values: Iterable[typing.Any]) -> list[typing.Any]:
    """Return a list for IN, filled with its last value to a length that is a power of two.

    Databases and their drivers keep a statement for each length. Those of lists of up to
    1,000 values take 100 MiB of each connection to SQLite.
    """
    found = list(values)
    length = len(found)
    if length <= LONGEST_FILLED:
        found += found[-1:] * ((1 << (length - 1).bit_length()) - length)
    return found
