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
from nova_lite import transitions
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import sagas
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.saga import journal

# The cast of run_saga comes first; the sweep takes up what it did not reach.
WAKE_IN_S = 5
# How long a saga may take to end whose server is free already, and how often to look.
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

    uuid: the migration's for a move, its own for what follows one
    order: see `order`; the saga finds it in its arguments as 'order', and the
        uuid of the server's cell as 'cell'
    timeout_s: how long it waits for another saga of the server to end
    size: see `sagas.create`
    pause: called with the interval of polling that other saga, in seconds
    admit: called with the connection in the transaction that records the saga; raises
        OverQuota, and may hold quota locks; None
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

    options: changes, host (the only one on which the server may be), and CHOSEN; see moves.Order.
        Others are ignored.
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
        # Without a response it is unknown whether it took place: the saga will find out.
        if not error.transient:
            api_db.write(sagas.withdraw, intent.uuid)
        raise


def _goes_forward(api_db: transactions.Database, uuid: str) -> bool:
    """Return whether a saga that was already run is done or still goes forward."""
    try:
        return bool(api_db.read(sagas.get, uuid).direction == journal.FORWARD)
    except exception.SagaNotFound:
        # Archived with its server.
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
        # The saga may have made it, also while this one waited for its transaction.
        if not moves.has_begun(connection, *what):
            raise
        return
    moves.begin(connection, *what)


def _record(
    api_db: transactions.Database, cell: cells.Cell, ctxt: context.RequestContext, intent: Intent
) -> None:
    """Add the saga's row. Wait for a saga of the server that is about to end."""
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
