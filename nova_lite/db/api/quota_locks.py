"""Quota locks: one request at a time counts what a holder uses and adds to it.

Without, two requests that read the same use could pass a limit together. Holders
are projects, users for what belongs to them alone, and scopes of unique names.
"""

import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import models

TABLE = models.QuotaLock.__table__


P = typing.ParamSpec('P')
T = typing.TypeVar('T')


class _NoLock(Exception):
    """A holder has no lock yet: its only argument."""


def of_user(user_id: str) -> str:
    """Return the holder for a user, in all projects."""
    return f'user {user_id}'


def write(
    api_db: transactions.Database,
    function: transactions.Function[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run `function(connection, ...)`, which may `hold` locks, as a transaction."""
    while True:
        try:
            return api_db.write(function, *args, **kwargs)
        except _NoLock as error:
            # Locks stay for good, so that this ends after as many turns as it holds locks.
            (holder,) = error.args
            api_db.write(create, holder)


def hold(connection: sa.Connection, holder: str) -> None:
    """Wait for the lock and keep it until the transaction ends.

    Only in what `write` runs: that makes the lock when there is none yet.
    """
    if rows.lock(connection, TABLE, project_id=holder) is None:
        raise _NoLock(holder)


def create(connection: sa.Connection, holder: str) -> None:
    """Give a holder its lock, unless another request was quicker."""
    try:
        with connection.begin_nested():
            rows.insert(connection, TABLE, {'project_id': holder})
    except db_exception.DBDuplicateEntry:
        return
