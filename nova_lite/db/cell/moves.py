"""Start of a move in its cell: one transaction of the API, which may be repeated.

The first step of the saga repeats this transaction, so that a kill between the saga's row and the
transaction loses nothing.
"""

from collections.abc import Iterable
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import devices
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.db.cell import shares
from nova_lite.saga import values

Claim = typing.TypedDict('Claim', {'uuid': str, 'from': list[str], 'to': str})


class UnconfirmedResize(exception.Conflict):
    msg = (
        'The resize of instance %(instance_id)s is being confirmed, because its state was reset. '
        'Try again in a few seconds.'
    )


class Down(typing.TypedDict):
    """A host whose compute service must be down."""

    host: str
    down_time_s: float


class Order(values.Value):
    """The arguments of the start of a move, which the journal stores with those of its saga.

    action: name of the recorded action; message: text recorded with it
    vm_states, task_states, hosts: allowed states and hosts of the server; None allows any
        (checks of the request are valid only for the server's host at that time)
    changes: columns of the server
    migration: columns of a new migration
    claims: a migration whose status changes from one of several
    device: columns of a new block device; see db.cell.devices
    down: a host whose compute service must be down
    most_devices: maximum number of the server's block devices, including the new one
    share: columns of a share to attach; detaches: id of a share to detach
    shareless: refuse a server with shares
    same: {column: value} of the server that must not have changed since the request
    """

    action: str
    vm_states: list[str | None] | None
    task_states: list[str | None] | None
    changes: dict[str, typing.Any]
    message: str | None = None
    hosts: list[str | None] | None = None
    migration: dict[str, typing.Any] | None = None
    claims: Claim | None = None
    device: dict[str, typing.Any] | None = None
    down: Down | None = None
    most_devices: int | None = None
    share: dict[str, typing.Any] | None = None
    detaches: str | None = None
    shareless: bool = False
    same: dict[str, typing.Any] | None = None


def begin(connection: sa.Connection, ctxt: context.RequestContext, uuid: str, order: Order) -> bool:
    """Begin a move of a server. Return False if it has already begun.

    The caller holds the epoch of the saga, so that no other process begins it at the same time. If
    the move replaces a task of the server, the open events of that task end. Without changes
    the time of the server's last change does not change.
    Raises InstanceNotFound, StateChanged if the server's states or its host do not allow the move,
    UnconfirmedResize, and ServiceIsUp if a host is not down although it must be.
    """
    if has_begun(connection, ctxt, uuid, order):
        return False
    row = instances.hold(connection, uuid)
    _require_same(row, order.same or {})
    if order.changes.get('task_state') and not order.claims:
        _require_confirmed(connection, row)
    if down := order.down:
        services.keep_down(connection, **down)
    instances.update(
        connection,
        uuid,
        order.changes or {'updated_at': row.updated_at},
        former=row,
        expect_task=_allowed(order.task_states),
        expect_vm=_allowed(order.vm_states),
        expect_host=_allowed(order.hosts),
    )
    claimed = order.claims
    if claimed:
        migrations.update(
            connection,
            claimed['uuid'],
            {'status': claimed['to']},
            expect_status=claimed['from'],
        )
    if migration := order.migration:
        migrations.create(connection, migration)
    if device := order.device:
        devices.add(connection, uuid, device, order.most_devices)
    _change_shares(connection, uuid, order)
    actions.start(connection, ctxt, uuid, order.action, order.message)
    if row.task_state is not None and order.changes.get('task_state'):
        # The host may never come back to end the events.
        actions.end_interrupted(
            connection,
            uuid,
            error=f'Interrupted by {order.action}.',
            besides=ctxt.request_id,
        )
    return True


def _require_confirmed(connection: sa.Connection, row: rows.Row) -> None:
    """Raise UnconfirmedResize if the source of a resize keeps a server whose state was reset.

    A later confirmation could remove the guest of the next move.
    """
    # A server has a former flavor until its resize is confirmed or reverted.
    was_reset = row.old_flavor is not None and row.vm_state != states.VmState.RESIZED
    finished = [str(states.MigrationStatus.FINISHED)]
    if was_reset and migrations.of_instance(connection, row.uuid, finished):
        raise UnconfirmedResize(instance_id=row.uuid)


def _change_shares(connection: sa.Connection, uuid: str, order: Order) -> None:
    if order.shareless:
        shares.require_none(connection, uuid)
    if share := order.share:
        shares.add(connection, uuid, share)
    if share_id := order.detaches:
        shares.begin_detaching(connection, uuid, share_id)


def _require_same(row: rows.Row, expected: rows.Values) -> None:
    changed = [name for name, value in expected.items() if getattr(row, name) != value]
    if changed:
        raise exception.StateChanged(what='Instance', key=row.uuid, detail=f'{changed} changed')


def has_begun(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str, order: Order
) -> bool:
    """Return whether the transaction was made for the request of `ctxt`."""
    newest = actions.asked(connection, uuid, ctxt.request_id)
    if newest is None or newest.action == order.action:
        return newest is not None
    # The deletion of a resized server confirms the resize first, in the same request.
    return actions.find(connection, uuid, ctxt.request_id, order.action) is not None


def may_begin(row: rows.Row, order: Order) -> bool:
    """Return whether a server's states and its host allow it."""
    return all(
        allowed is None or state in allowed
        for state, allowed in (
            (row.vm_state, order.vm_states),
            (row.task_state, order.task_states),
            (row.host, order.hosts),
        )
    )


def _allowed(values: Iterable[str | None] | None) -> Iterable[str | None]:
    return instances.ANY if values is None else tuple(values)
