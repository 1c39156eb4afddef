"""The fence against zombies: a saga's former owner can do no harm in a cell.

Every call of a saga's step carries the saga and the epoch of its owner. The cell
remembers the newest epoch it has seen of each saga, in the transaction of the
call itself, and refuses an older one. Source: contributor/architecture, Sagas.
"""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.db.cell import epochs


def check(connection: sa.Connection, ctxt: context.RequestContext) -> None:
    """Raise StaleEpoch if a newer epoch of the context's saga is known."""
    if ctxt.saga is not None:
        epochs.hold(connection, ctxt.saga, ctxt.epoch)  # type: ignore[arg-type]  # it has both
