"""Epochs: the newest owner of each saga and each build that this cell has seen.

A process with an older epoch is a former owner, and may no longer change the cell.
Source: contributor/architecture, Sagas.
"""

from collections.abc import Iterable
import contextlib
import datetime
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute
from nova_lite.dialects import writing

TABLE = models.SagaEpoch.__table__
LOCK = writing.locking(sa.select(TABLE.c.epoch).where(TABLE.c.saga_uuid == sa.bindparam('saga')))
SEEN = sa.select(TABLE.c.saga_uuid, TABLE.c.epoch).where(
    TABLE.c.saga_uuid.in_(sa.bindparam('sagas'))
)
# A saga that has ended has a further row. Its key is that of no saga, and as long.
ENDED = '/end'
OLD = TABLE.c.seen_at < sa.bindparam('before')


def hold(connection: sa.Connection, saga: str, epoch: int) -> None:
    """Check an epoch, and make newer epochs wait until the transaction ends.

    saga: uuid of the saga, or of the server for its build. Raises StaleEpoch.
    """
    # The request that begins a saga is nearly always the first to name it here.
    known: typing.Any = None if epoch == 0 else _lock(connection, saga)
    if known is None and _first(connection, saga, epoch):
        return
    if known is None:
        known = _lock(connection, saga)
    admit(connection, saga, epoch, newest=known)


def admit(connection: sa.Connection, saga: str, epoch: int, *, newest: int) -> None:
    """Check an epoch against the newest one, whose row is locked. Raises StaleEpoch."""
    if newest > epoch:
        raise exception.StaleEpoch(saga=saga, seen=newest, epoch=epoch)
    if newest < epoch:
        values = {'epoch': epoch, 'seen_at': runtime.naive_now()}
        rows.change(connection, TABLE, values, saga_uuid=saga)


def end(connection: sa.Connection, saga: str) -> bool:
    """Record, with the other records of its end, that a saga has ended in this cell.

    Return False if it is recorded already. `forget` deletes the record as those of epochs.
    """
    return _first(connection, saga.replace('-', '') + ENDED, 0)


def seen(connection: sa.Connection, sagas: Iterable[str]) -> dict[str, int]:
    """Return {uuid: newest epoch} of the known sagas, without a lock."""
    return dict(execute.every(connection, SEEN, {'sagas': execute.filled(sagas)}))


def _lock(connection: sa.Connection, saga: str) -> int | None:
    """Return the newest epoch, or None. Newer epochs wait until this transaction ends."""
    newest: int | None = execute.value(connection, LOCK, {'saga': saga})
    return newest


def _first(connection: sa.Connection, saga: str, epoch: int) -> bool:
    """Add an unknown saga. Return False if another call has just added it."""
    # With other database servers an error rolls back only its statement.
    aborts = connection.dialect.name == 'postgresql'
    try:
        with connection.begin_nested() if aborts else contextlib.nullcontext():
            rows.insert(
                connection,
                TABLE,
                {'saga_uuid': saga, 'epoch': epoch, 'seen_at': runtime.naive_now()},
            )
    except db_exception.DBDuplicateEntry:
        return False
    return True


def forget(connection: sa.Connection, before: datetime.datetime) -> None:
    """Delete the epochs of sagas without a call since `before` (naive UTC)."""
    rows.delete(connection, TABLE, OLD, given={'before': before})
