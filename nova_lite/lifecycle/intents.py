"""Intents: the start of a move, stored so that the move survives a crash.

First the saga's row is written to the API database, then one transaction is made in the
server's cell. After a crash between the two, the saga's first step repeats that transaction.
Source: contributor/architecture, Sagas.
"""

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import sagas
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.saga import journal
from nova_lite.states import transitions

# Time for the cast of run_saga to arrive; after it the sweep takes up the saga.
WAKE_IN_S = 5
# How long to wait for a saga that has released its server to end, and how often to look.
END_TIMEOUT_S = 5
LOOK_S, LONGEST_LOOK_S = 0.02, 0.25
# Fields of an order that requests choose, beside `changes` and `hosts`.
CHOSEN = (
    'message',
    'migration',
    'claims',
    'device',
    'most_devices',
    'down',
    'same',
    'share',
    'detaches',
)


@dataclasses.dataclass
class Intent:
    """A saga that is to be started.

    uuid: that of the migration for a move, a new one for an action after a move
    order: see `order`; the saga finds it in its arguments as 'order', and the
        uuid of the server's cell as 'cell'
    timeout_s: seconds to wait for another saga of the server to end
    size: see `sagas.create`
    pause: function that sleeps; called with the seconds between two looks at that other saga
    admit: function that takes the connection of the transaction that records the saga, checks
        quotas there (and may lock them) and raises OverQuota; or None
    """

    kind: str
    uuid: str
    instance_uuid: str
    order: moves.Order
    arguments: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    timeout_s: float = END_TIMEOUT_S
    pause: Callable[[float], None] = runtime.sleep
    size: instance_mappings.Size | None = None
    admit: Callable[[sa.Connection], None] | None = None


def order(guard: transitions.Transition, action: str, **options: typing.Any) -> moves.Order:
    """Return the order of an action whose transition is `guard` (a row of transitions.TRANSITIONS).

    options: changes, host (the only host on which the server may be), and the fields CHOSEN; see
        moves.Order. Further options are ignored
    """
    during = {} if guard.during is None else {'task_state': str(guard.during)}
    return moves.Order(
        action=action,
        vm_states=_texts(guard.vm_states),
        task_states=_texts(guard.task_states),
        hosts=[options['host']] if 'host' in options else None,
        changes={**during, **(options.get('changes') or {})},
        shareless=guard.shareless,
        **{name: options[name] for name in CHOSEN if name in options},
    )


def _texts(allowed: Iterable[str | None] | None) -> list[str | None] | None:
    if allowed is None:
        return None
    return [None if each is None else str(each) for each in allowed]


def begin(
    api_db: transactions.Database, cell: cells.Cell, ctxt: context.RequestContext, intent: Intent
) -> None:
    """Record the saga and make its first transaction.

    Raises Conflict when another saga moves the server, StateChanged when its states do
    not allow it, InstanceNotFound, OverQuota. Then nothing is left of the intent.
    """
    _record(api_db, cell, ctxt, intent)
    try:
        cell.db.write(_begin, ctxt, intent)
    except exception.StaleEpoch as error:
        if not _goes_forward(api_db, intent.uuid):
            reason = 'the request took too long and was withdrawn. Send it again'
            raise exception.Conflict(reason=reason) from error
    except exception.NovaLiteError as error:
        # Without a reply it is unknown whether the transaction was committed: the saga will check.
        if not error.transient:
            api_db.write(sagas.withdraw, intent.uuid)
        raise


def _goes_forward(api_db: transactions.Database, uuid: str) -> bool:
    """Return whether a saga that has already run is done or still goes forward."""
    try:
        return bool(api_db.read(sagas.get, uuid).direction == journal.FORWARD)
    except exception.SagaNotFound:
        # The saga was archived with its server.
        return False


def _begin(connection: sa.Connection, ctxt: context.RequestContext, intent: Intent) -> None:
    """Make the first transaction, with an epoch before that of the first owner of the saga.

    Raise StaleEpoch if the saga has already made it, has ended without it, or has moved the
    server and its records to another cell.
    """
    what = ctxt, intent.instance_uuid, intent.order
    try:
        epochs.hold(connection, intent.uuid, 0)
    except exception.StaleEpoch:
        # The saga may have made this transaction already, even while this one waited for a lock.
        if not moves.has_begun(connection, *what):
            raise
        return
    moves.begin(connection, *what)


def _record(
    api_db: transactions.Database, cell: cells.Cell, ctxt: context.RequestContext, intent: Intent
) -> None:
    """Add the saga's row. Wait until a saga that has released the server has ended."""
    deadline = runtime.monotonic() + intent.timeout_s
    pause_s = LOOK_S
    while True:
        try:
            quota_locks.write(api_db, _create, ctxt, intent, cell.uuid)
            return
        except (db_exception.DBDuplicateEntry, exception.Conflict) as error:
            conflict = error
        row = cell.db.read(instances.get, intent.instance_uuid)
        if not moves.may_begin(row, intent.order):
            raise exception.StateChanged(
                what='Instance',
                key=intent.instance_uuid,
                detail=f'found {row.vm_state}, task {row.task_state}, host {row.host}',
            ) from conflict
        if runtime.monotonic() > deadline:
            raise exception.Conflict(reason='another operation is moving the server') from conflict
        intent.pause(pause_s)
        pause_s = min(LONGEST_LOOK_S, pause_s * 1.5)


def _create(
    connection: sa.Connection, ctxt: context.RequestContext, intent: Intent, cell_uuid: str
) -> None:
    sagas.create(
        connection,
        ctxt,
        uuid=intent.uuid,
        kind=intent.kind,
        instance_uuid=intent.instance_uuid,
        arguments={**intent.arguments, 'order': intent.order.as_dict(), 'cell': cell_uuid},
        wake_in_s=WAKE_IN_S,
        size=intent.size,
    )
    if intent.admit is not None:
        intent.admit(connection)
