"""The fence against zombies: a saga's former owner can do no harm in a cell.

Every call of a saga's step carries the saga and the epoch of its owner. The cell
remembers the newest epoch it has seen of each saga, in the transaction of the
call itself, and refuses an older one. Source: design, sagas.
"""

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.SagaEpoch.__table__


def check(connection, ctxt):
    """Let the context's saga pass or raise StaleEpoch; others always pass."""
    if ctxt.saga is None:
        return
    seen = _hold(connection, ctxt.saga)
    if seen is None and _first(connection, ctxt):
        return
    if seen is None:
        seen = _hold(connection, ctxt.saga)
    if seen > ctxt.epoch:
        raise exception.StaleEpoch(saga=ctxt.saga, seen=seen, epoch=ctxt.epoch)
    if seen < ctxt.epoch:
        connection.execute(
            TABLE.update()
            .where(TABLE.c.saga_uuid == ctxt.saga)
            .values(epoch=ctxt.epoch, seen_at=runtime.naive_now())
        )


def _hold(connection, saga):
    """The newest epoch seen, or None; a newer one waits until this transaction ends."""
    query = sa.select(TABLE.c.epoch).where(TABLE.c.saga_uuid == saga)
    return connection.scalar(query.with_for_update())


def _first(connection, ctxt):
    """Remember a saga that was never seen; False when another call just did."""
    try:
        with connection.begin_nested():
            rows.insert(
                connection,
                TABLE,
                {'saga_uuid': ctxt.saga, 'epoch': ctxt.epoch, 'seen_at': runtime.naive_now()},
            )
    except db_exception.DBDuplicateEntry:
        return False
    return True


def forget(connection, before):
    """Drop the epochs of sagas of which nothing was heard since `before` (naive UTC)."""
    connection.execute(TABLE.delete().where(TABLE.c.seen_at < before))
