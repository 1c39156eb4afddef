"""Rows that a transaction has read and need not read again.

No other transaction changes the columns of these rows that their readers use. Functions that change
such a row remove it, or keep it as changed.
"""

from collections.abc import Mapping
import typing

import sqlalchemy as sa

# Key in the `info` of a connection, during a transaction of `transactions.Database`.
KNOWN = 'nova_lite_known'


class Kept:
    """A row as its transaction has left it. Its columns are attributes, as those of a result."""

    def __init__(self, columns: Mapping[str, typing.Any]) -> None:
        self._mapping = dict(columns)
        vars(self).update(self._mapping)


def of(connection: sa.Connection) -> dict[typing.Any, typing.Any]:
    """Return {key: row} of a transaction."""
    found: dict[typing.Any, typing.Any] = connection.info.get(KNOWN, {})
    return found


def carried(connection: sa.Connection) -> dict[typing.Any, typing.Any]:
    """Return {key: row} of rows that also stay as they are after the transaction.

    Of these rows no transaction changes the columns that their readers use. Nor does one delete
    them while the saga runs: `manage.archive` keeps servers with unfinished sagas.
    """
    return {key: row for key, row in of(connection).items() if isinstance(key, tuple)}


def locked(connection: sa.Connection, table: sa.Table) -> dict[str, typing.Any]:
    """Return {uuid: row} of a table's rows that the transaction has locked, to read or to add."""
    found: dict[str, typing.Any] = of(connection).setdefault(table, {})
    return found


def forget(connection: sa.Connection, table: sa.Table) -> None:
    """Forget the locked rows of a table, some of which are changed."""
    of(connection).pop(table, None)
