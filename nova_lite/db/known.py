"""Rows that a transaction has read and need not read again.

No other transaction changes the columns of these rows that their readers use. Functions that change
such a row remove it.
"""

import typing

import sqlalchemy as sa

# Key in the `info` of a connection, during a transaction of `transactions.Database`.
KNOWN = 'nova_lite_known'


def of(connection: sa.Connection) -> dict[typing.Any, typing.Any]:
    """Return {key: row} of a transaction."""
    found: dict[typing.Any, typing.Any] = connection.info.get(KNOWN, {})
    return found
