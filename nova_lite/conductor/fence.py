"""The fence against zombies: a saga's former owner can do no harm in a cell.

Every call of a saga's step carries the saga and the epoch of its owner. The cell
remembers the newest epoch it has seen of each saga, in the transaction of the
call itself, and refuses an older one. Source: design, sagas.
"""

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
    row = rows.find(connection, TABLE, saga_uuid=ctxt.saga)
    if row is None:
        rows.insert(
            connection,
            TABLE,
            {'saga_uuid': ctxt.saga, 'epoch': ctxt.epoch, 'seen_at': runtime.naive_now()},
        )
        return
    if row.epoch == ctxt.epoch:
        return
    raised = connection.execute(
        TABLE.update()
        .where(TABLE.c.saga_uuid == ctxt.saga, TABLE.c.epoch < ctxt.epoch)
        .values(epoch=ctxt.epoch, seen_at=runtime.naive_now())
    )
    if raised.rowcount != 1:
        seen = connection.scalar(sa.select(TABLE.c.epoch).where(TABLE.c.saga_uuid == ctxt.saga))
        if seen != ctxt.epoch:
            raise exception.StaleEpoch(saga=ctxt.saga, seen=seen, epoch=ctxt.epoch)


def forget(connection, before):
    """Drop the epochs of sagas of which nothing was heard since `before` (naive UTC)."""
    connection.execute(TABLE.delete().where(TABLE.c.seen_at < before))
