"""Duties of moves: cleanup that continues after the end of a saga, see saga.cleaning.

The server may have moved since, or be deleted. A duty changes only objects with ids of its own
saga; or it compares objects with the server's current record, in its current cell, while no other
saga has the server, and keeps the objects that the server uses. Audits of hosts clean up guests,
and audits of the super-conductor clean up allocations. No audit compares the devices of guests.
"""

from collections.abc import Callable
import functools
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import network_info
from nova_lite.db.cell import user_ports
from nova_lite.moves import neighbours
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell

P = typing.ParamSpec('P')


def _duty(cleanup: Callable[P, saga.Pending | None]) -> Callable[P, saga.Clean]:
    """Return a function that makes a duty of a cleanup and its arguments."""

    @functools.wraps(cleanup)
    def clean(*args: P.args, **options: P.kwargs) -> saga.Clean:
        return saga.Clean(functools.partial(cleanup, *args, **options), alone=True)

    return clean


@_duty
def foreign_attachments(scope: scopes.Scope) -> saga.Pending | None:
    """Delete the attachments of the server that none of its block devices names.

    A host creates an attachment before it records it, while the server has a task. So an attachment
    that was listed before the server was read without a task is recorded, or foreign.
    """
    found = scope.world.volume.list_attachments(scope.ctxt, scope.instance_uuid)
    cell, row = now(scope)
    if row is not None and row.task_state is not None:
        return saga.Pending(detail=f'the server is in task {row.task_state}')
    devices = [] if cell is None else cell.devices()
    neighbours.drop_listed(scope, found, devices)
    return None


def drop_bindings(scope: scopes.Scope, host: str) -> None:
    """Delete the bindings to a host, unless the server or an open move of it uses the host."""
    cell, row = now(scope)
    if cell is None or row is None or not row.network_info:
        return
    if not _is_used(cell, row, host):
        neighbours.unbind(scope, row.network_info, host)


@_duty
def activation(scope: scopes.Scope, *, leaves: scopes.End | None = None) -> None:
    """Activate the bindings to the server's host. leaves: an end whose bindings to delete then"""
    cell, row = now(scope)
    if cell is not None and row is not None and row.host and row.network_info:
        info = neighbours.activate(scope, row.network_info, row.host)
        cell.write(network_info.renew, row.uuid, info, host=row.host)
    if leaves is not None:
        drop_bindings(scope, leaves.host)


@_duty
def no_bindings(scope: scopes.Scope) -> None:
    """Unbind the ports of a server that is on no host."""
    _side, row = now(scope)
    if row is not None and row.host is None:
        scope.world.network.unbind(scope.ctxt, row.uuid, row.network_info or ())


@_duty
def foreign_ports(scope: scopes.Scope, request: session.Json) -> None:
    """Release the port of a request, unless the server has it."""
    _side, row = now(scope)
    held = neighbours.held(scope, neighbours.PORTS)
    has = neighbours.port_ids(row.network_info) if row is not None else ()
    scope.world.network.undo_attach(scope.ctxt, scope.instance_uuid, request, known={*held, *has})
    given = request.get('port_id')
    if given not in held:
        forget_port(scope, given)


def forget_port(scope: scopes.Scope, port_id: str | None) -> None:
    """Delete the note that a port is the user's. port_id: may be None"""
    cell, _row = now(scope)
    if cell is not None and port_id:
        cell.write(user_ports.forget, scope.instance_uuid, port_id)


@_duty
def copy(scope: scopes.Scope, dest: scopes.End) -> None:
    """Purge the copy that a move left in its destination cell.

    `copies.drop` keeps the record if the server is in that cell by now, or if a later move has left
    the record there for its revert.
    """
    if not _is_in(scope, dest.cell):
        dest.cell.write(copies.drop, scope.instance_uuid, scope.uuid)


@_duty
def shown(scope: scopes.Scope, source: scopes.End) -> None:
    """Hide the record in the source cell again, unless the server has returned there."""
    cell = source.cell
    # Read before the mapping, because a later revert changes the record before the mapping.
    row = cell.find()
    if row is not None and not (row.deleted or row.hidden or _is_in(scope, cell)):
        cell.write(_hide, row)


def _is_in(scope: scopes.Scope, cell: server_cell.ServerCell) -> bool:
    """Return whether the server's mapping names a ServerCell."""
    try:
        return bool(scope.world.cells.of_instance(scope.instance_uuid).uuid == cell.cell.uuid)
    except exception.InstanceNotFound:
        return False


def _hide(connection: sa.Connection, row: rows.Row) -> None:
    """Hide a record. Raise StateChanged if it differs from `row`."""
    instances.update(connection, row.uuid, {'hidden': True}, expect_change=(row.updated_at,))
    copies.show(connection, row.uuid, False)


def now(scope: scopes.Scope) -> tuple[server_cell.ServerCell, rows.Row] | tuple[None, None]:
    """Return (ServerCell, row) of the server's current cell, or (None, None) if it is gone."""
    try:
        cell = scope.side(scope.world.cells.of_instance(scope.instance_uuid))
    except exception.InstanceNotFound:
        return None, None
    row = cell.find()
    return (None, None) if row is None or row.deleted else (cell, row)


def _is_used(cell: server_cell.ServerCell, row: rows.Row, host: str) -> bool:
    """Return whether the server is on a host, or an open move leads to it or from it."""
    moves = cell.read(migrations.of_instance, row.uuid)
    return host == row.host or any(
        host in (each.source_compute, each.dest_compute)
        for each in moves
        if each.status not in migrations.OVER
    )
