"""The fence against zombies: a saga's former owner cannot change a cell.

Each call of a saga's step has the saga and the epoch of its owner. The cell stores the newest epoch
of each saga, in the transaction of the call itself, and refuses older epochs.
Source: contributor/architecture, Sagas.
"""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.dialects import execute
from nova_lite.dialects import writing

_NEWEST = 'newest_epoch'
# A known saga and a server, both locked. The saga comes first, as in the transactions of others.
_WITH_SERVER = writing.locking(
    sa.select(instances.TABLE, epochs.TABLE.c.epoch.label(_NEWEST))
    .join_from(epochs.TABLE, instances.TABLE, sa.true())
    .where(
        instances.TABLE.c.uuid == sa.bindparam('server'),
        epochs.TABLE.c.saga_uuid == sa.bindparam('saga'),
    )
)


def check(connection: sa.Connection, ctxt: context.RequestContext) -> None:
    """Raise StaleEpoch if a newer epoch of the context's saga is known."""
    if ctxt.saga is not None:
        epochs.hold(connection, ctxt.saga, ctxt.epoch)  # type: ignore[arg-type]  # it has both


def check_with_server(connection: sa.Connection, ctxt: context.RequestContext, uuid: str) -> None:
    """Check as `check`. The same statement locks and reads a server for this transaction."""
    if ctxt.saga is None or ctxt.epoch is None:
        return
    given = {'server': uuid, 'saga': ctxt.saga}
    found = execute.first(connection, _WITH_SERVER, given)
    if found is None:
        # The first transaction of the saga in this cell, or one after the server's record.
        check(connection, ctxt)
        return
    columns = dict(found._mapping)
    epochs.admit(connection, ctxt.saga, ctxt.epoch, newest=columns.pop(_NEWEST))
    instances.keep(connection, columns)


def is_newest(connection: sa.Connection, ctxt: context.RequestContext) -> bool:
    """Return whether the epoch of the context's saga is recorded as the newest one."""
    return ctxt.saga is None or epochs.seen(connection, [ctxt.saga]).get(ctxt.saga) == ctxt.epoch
