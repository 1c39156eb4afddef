"""Transactions that wait at the same time are made as one.

They share the beginning and the end of a transaction, which is what makes it durable. If one of
them fails, all are rolled back and each is made by itself, so that none suffers from another.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.runtime import combine

LOG = log.getLogger(__name__)

# Transactions that are made as one.
MOST = 20

P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# A function of a transaction.
Function: typing.TypeAlias = Callable[[sa.Connection], T]


class JoinedTransactions:
    """Short writing transactions of one kind on one database. Safe to use from several threads."""

    def __init__(self, database: transactions.Database) -> None:
        self._database = database
        self._combiner: combine.Combiner[Function[typing.Any], typing.Any]
        self._combiner = combine.Combiner(self.write_all, MOST)

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a transaction, as Database.write."""

        def member(connection: sa.Connection) -> T:
            return function(connection, *args, **kwargs)

        found: T = self._combiner.call(
            member, lambda: self._database.write(function, *args, **kwargs)
        )
        return found

    def write_all(self, functions: Sequence[Function[T]]) -> list[T] | None:
        """Make transactions as one. Return their results, or None if one of them fails."""
        return unless_refused(lambda: self._database.write(_each, functions))


def _each(connection: sa.Connection, functions: Sequence[Function[T]]) -> list[T]:
    return [function(connection) for function in functions]


def unless_refused(write: Callable[[], T]) -> T | None:
    """Return the result of a joint transaction, or None after an error of one of its members.

    Raise Unavailable: the database has not answered, and may have committed the transaction.
    """
    try:
        return write()
    except exception.Unavailable:
        raise
    except Exception as error:
        # Whatever the error is, the member that causes it meets it again, alone.
        LOG.info('A joint transaction failed, so its members are made one by one: %s', error)
        return None
