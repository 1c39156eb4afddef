"""Confirmations of resizes that no user has asked for.

Two things start them: `resize_confirm_window`, and a reset of the server's state. After a reset
the API neither confirms nor reverts the resize, and the server runs on the destination. The
confirmation removes what the source keeps for a revert.
"""

from nova_lite import cells
from nova_lite import context
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.lifecycle import intents
from nova_lite.states import transitions

Status = states.MigrationStatus


def begin(
    api_db: transactions.Database,
    cell: cells.Cell,
    migration: rows.Row,
    guard: transitions.Transition,
) -> str:
    """Record the saga that confirms a finished migration. Return its uuid.

    cell: that of the visible record; guard: transitions.CONFIRM_RESIZE or CONFIRM_RESET
    Raises as `intents.begin`.
    """
    intent = intents.Intent(
        kind='cross-cell-confirm' if migration.cross_cell_move else 'confirm-resize',
        uuid=runtime.new_uuid(),
        instance_uuid=migration.instance_uuid,
        arguments={'migration_uuid': migration.uuid},
        order=intents.order(
            guard,
            'confirmResize',
            claims={
                'uuid': migration.uuid,
                'from': [str(Status.FINISHED)],
                'to': str(Status.CONFIRMING),
            },
        ),
        timeout_s=0,
    )
    intents.begin(api_db, cell, context.admin(), intent)
    return intent.uuid
