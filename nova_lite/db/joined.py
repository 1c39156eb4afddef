"""Transactions that wait at the same time are made as one.

They share the beginning and the end of a transaction, which is what makes it durable. If one of
them fails, all are rolled back and each is made by itself, so that none suffers from another.
"""

from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import errors
from nova_lite.db import transactions
from nova_lite.runtime import combine

LOG = log.getLogger(__name__)

# Transactions that are made as one.
MOST = 20

P = typing.ParamSpec('P')
T = typing.TypeVar('T')
# The server can work, but another transaction has what a joint one needs.
HELD = (errors.Kind.CONFLICT, errors.Kind.BUSY)
# A function of a transaction.
Function: typing.TypeAlias = Callable[[sa.Connection], T]


class JoinedTransactions:
    """Short writing transactions of one kind on one database. Safe to use from several threads.

    key: those with other keys are not joined with these, see `of`
    """

    def __init__(
        self,
        database: transactions.Database,
        key: Hashable = None,
        combiner: combine.Combiner[typing.Any, typing.Any] | None = None,
    ) -> None:
        self._database, self._key = database, key
        self._combiner = combiner or combine.Combiner(self.write_all, MOST)

    def of(self, key: Hashable) -> 'JoinedTransactions':
        """Return those that are joined only with each other, because their lock is the same."""
        return JoinedTransactions(self._database, key, self._combiner)

    def write(self, function: transactions.Function[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a transaction, as Database.write."""

        def member(connection: sa.Connection) -> T:
            return function(connection, *args, **kwargs)

        found: T = self._combiner.call(
            member, lambda: self._database.write(function, *args, **kwargs), key=self._key
        )
        return found

    def write_all(self, functions: Sequence[Function[T]]) -> list[T] | None:
        """Make transactions as one. Return their results, or None if one of them fails."""
        return unless_refused(lambda: self._database.write(_each, functions))


def _each(connection: sa.Connection, functions: Sequence[Function[T]]) -> list[T]:
    return [function(connection) for function in functions]


def unless_refused(write: Callable[[], T]) -> T | None:
    """Return the result of a joint transaction, or None after an error of one of its members.

    Raise Unavailable if the database does not answer, or may have committed the transaction. If
    another transaction holds a lock that one of the members needs, the others go on alone.
    """
    try:
        return write()
    except exception.Unavailable as error:
        cause = error.__cause__
        is_held = cause is not None and errors.classify(cause) in HELD
        if 'may_have_committed' in error.kwargs or not is_held:
            raise
        LOG.info('A joint transaction was not made, so its members are made one by one: %s', error)
        return None
    except Exception as error:
        # Whatever the error is, the member that causes it meets it again, alone.
        LOG.info('A joint transaction failed, so its members are made one by one: %s', error)
        return None
