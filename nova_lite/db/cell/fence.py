"""The fence against zombies: a saga's former owner cannot change a cell.

Each call of a saga's step has the saga and the epoch of its owner. The cell stores the newest epoch
of each saga, in the transaction of the call itself, and refuses older epochs.
Source: contributor/architecture, Sagas.
"""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.db.cell import epochs


def check(connection: sa.Connection, ctxt: context.RequestContext) -> None:
    """Raise StaleEpoch if a newer epoch of the context's saga is known."""
    if ctxt.saga is not None:
        epochs.hold(connection, ctxt.saga, ctxt.epoch)  # type: ignore[arg-type]  # it has both
