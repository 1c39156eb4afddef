"""Rows that a transaction has read and need not read again.

They are of what no other transaction changes, as far as their readers are concerned. The
functions that change it forget them.
"""

import typing

import sqlalchemy as sa

# In the `info` of a connection, during a transaction of `transactions.Database`.
KNOWN = 'nova_lite_known'


def of(connection: sa.Connection) -> dict[typing.Any, typing.Any]:
    """Return {key: row} of a transaction."""
    found: dict[typing.Any, typing.Any] = connection.info.get(KNOWN, {})
    return found
