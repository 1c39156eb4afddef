"""Transactions that only read, which cost less than transactions that may write.

The kind of a transaction is in the `info` of its connection, since dialects begin and end
transactions. Each dialect refuses statements that change or lock rows in a transaction that only
reads: over MariaDB each statement would be committed by itself, and its locks released.
"""

from collections.abc import MutableMapping
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

_KEY = 'nova_lite_writes'
# The option of statements that lock rows.
_LOCKS = 'nova_lite_locks'

Query = typing.TypeVar('Query', bound='sa.Select[*tuple[typing.Any, ...]]')

Info: typing.TypeAlias = MutableMapping[typing.Any, typing.Any]


class Refused(db_exception.DBError):  # type: ignore[misc]  # is not typed
    """A defect: a transaction was declared to read only, and changes or locks rows.

    oslo.db raises its own errors as they are.
    """

    def __init__(self) -> None:
        super().__init__(RuntimeError('A transaction that only reads cannot change or lock rows'))


def declare(info: Info, writes: bool) -> None:
    """Declare whether the next transaction on a connection writes."""
    info[_KEY] = writes


def forget(info: Info) -> None:
    """Remove the declaration: later transactions may write."""
    info.pop(_KEY, None)


def may_write(info: Info) -> bool:
    """Return whether a transaction may write. It may unless it was declared as reading."""
    found: bool = info.get(_KEY, True)
    return found


def require(info: Info) -> None:
    """Raise Refused if a transaction was declared to read only."""
    if not may_write(info):
        raise Refused()


def locking(query: Query, *, shared: bool = False) -> Query:
    """Return a query that locks its rows until the end of the transaction.

    shared: whether other transactions may lock them so at the same time
    """
    return query.with_for_update(read=shared).execution_options(**{_LOCKS: True})


def is_needed(context: typing.Any) -> bool:
    """Return whether the statement of an execution changes or locks rows. Text is not read."""
    return context.is_crud or _LOCKS in context.execution_options


def guard(engine: sa.Engine) -> None:
    """Make an engine refuse statements that a transaction was not declared for."""

    def check(_cursor: object, _sql: str, _values: object, context: typing.Any) -> None:
        if is_needed(context):
            require(context.root_connection.info)

    sa.event.listen(engine, 'do_execute', check)
    sa.event.listen(engine, 'do_executemany', check)
