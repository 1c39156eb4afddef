"""Quota locks: one request at a time counts the usage of a holder and adds to it.

Without the lock, two requests that read the same usage could exceed a limit together. Holders are
projects, users (for objects that belong to users) and scopes of unique names.
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


class Writer(typing.Protocol):
    """The API database, or its joint transactions of one kind."""

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a transaction."""


def write(
    api_db: Writer,
    function: transactions.Function[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run `function(connection, ...)`, which may `hold` locks, as a transaction."""
    while True:
        try:
            return api_db.write(function, *args, **kwargs)
        except _NoLock as error:
            # Locks are never deleted, so the loop ends after as many turns as there are locks.
            (holder,) = error.args
            api_db.write(create, holder)


def hold(connection: sa.Connection, holder: str) -> None:
    """Wait for the lock and keep it until the transaction ends.

    Only functions that `write` runs may call this, because `write` creates a missing lock.
    """
    if rows.lock(connection, TABLE, project_id=holder) is None:
        raise _NoLock(holder)


def create(connection: sa.Connection, holder: str) -> None:
    """Create the lock of a holder, unless another request has done so."""
    try:
        with connection.begin_nested():
            rows.insert(connection, TABLE, {'project_id': holder})
    except db_exception.DBDuplicateEntry:
        return
