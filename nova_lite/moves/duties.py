"""Duties of moves: cleanup that continues after the end of a saga, see saga.cleaning.

The server may have moved since, or be deleted. A duty names what it changes by an id of its
own saga, or compares it with the server's present record, in its present cell, while no other
saga has the server: what the server uses stays. Audits of hosts clean up guests, and audits
of the super-conductor clean up allocations. No audit compares the devices of guests.
"""

from collections.abc import Callable
import functools
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import network_info
from nova_lite.db.cell import user_ports
from nova_lite.moves import neighbours
from nova_lite.moves import server_cell

if typing.TYPE_CHECKING:
    from nova_lite.moves import attach_interface
    from nova_lite.moves import move as moves
    from nova_lite.moves import revert


P = typing.ParamSpec('P')


def _duty(cleanup: Callable[P, saga.Pending | None]) -> Callable[P, saga.Clean]:
    """Return a function that makes a duty of a cleanup and its arguments."""

    @functools.wraps(cleanup)
    def clean(*args: P.args, **options: P.kwargs) -> saga.Clean:
        return saga.Clean(functools.partial(cleanup, *args, **options), alone=True)

    return clean


@_duty
def foreign_attachments(move: 'moves.AnyMove') -> saga.Pending | None:
    """End the attachments of the server that none of its block devices names.

    A host creates an attachment before it records it, while the server has a task. An attachment
    that was listed before the server was seen without a task is recorded, or foreign.
    """
    found = move.world.volume.list_attachments(move.ctxt, move.instance_uuid)
    cell, row = now(move)
    if row is not None and row.task_state is not None:
        return saga.Pending(detail=f'the server is in task {row.task_state}')
    devices = [] if cell is None else cell.devices()
    neighbours.drop_foreign(move, devices, listed=found)
    return None


def drop_bindings(move: 'moves.AnyMove', host: str) -> None:
    """Delete the bindings to a host, unless the server or an open move of it uses the host."""
    cell, row = now(move)
    if cell is None or row is None or not row.network_info:
        return
    if not _is_used(cell, row, host):
        neighbours.unbind(move, row.network_info, host)


@_duty
def activation(move: 'moves.AnyMove', *, leaves: bool = False) -> None:
    """Activate the bindings to the server's host. leaves: then delete the source's"""
    cell, row = now(move)
    if cell is not None and row is not None and row.host and row.network_info:
        info = neighbours.activate(move, row.network_info, row.host)
        cell.write(network_info.renew, row.uuid, info, host=row.host)
    if leaves:
        drop_bindings(move, move.source_host)


@_duty
def no_bindings(move: 'moves.AnyMove') -> None:
    """Unbind the ports of a server that is on no host."""
    _side, row = now(move)
    if row is not None and row.host is None:
        move.world.network.unbind(move.ctxt, row.uuid, row.network_info or ())


@_duty
def foreign_ports(move: 'attach_interface.AttachInterface') -> None:
    """Release the port of a request, unless the server has it."""
    _side, row = now(move)
    request, held = move.arguments.request, neighbours.held(move, neighbours.PORTS)
    has = neighbours.port_ids(row.network_info) if row is not None else ()
    move.world.network.undo_attach(move.ctxt, move.instance_uuid, request, known={*held, *has})
    given = request.get('port_id')
    if given not in held:
        forget_port(move, given)


def forget_port(move: 'moves.AnyMove', port_id: str | None) -> None:
    """Delete the note that a port is the user's. port_id: may be None"""
    cell, _row = now(move)
    if cell is not None and port_id:
        cell.write(user_ports.forget, move.instance_uuid, port_id)


@_duty
def copy(move: 'moves.AnyMove') -> None:
    """Purge the copy that a move left in its destination cell.

    `copies.drop` keeps the record if the server is in that cell by now, or if a later move left it
    there for its revert.
    """
    if not _is_in(move, move.there):
        move.there.write(copies.drop, move.instance_uuid, move.uuid)


@_duty
def shown(move: 'revert.RevertResize') -> None:
    """Hide the record in the source cell again, unless the server has returned there."""
    cell = move.source_cell
    # Read before the mapping, because a later revert changes the record before the mapping.
    row = cell.find()
    if row is not None and not (row.deleted or row.hidden or _is_in(move, cell)):
        cell.write(_hide, row)


def _is_in(move: 'moves.AnyMove', cell: server_cell.ServerCell) -> bool:
    """Return whether the server's mapping names a ServerCell."""
    try:
        return bool(move.world.cells.of_instance(move.instance_uuid).uuid == cell.cell.uuid)
    except exception.InstanceNotFound:
        return False


def _hide(connection: sa.Connection, row: rows.Row) -> None:
    """Hide a record. Raise StateChanged if it differs from `row`."""
    instances.update(connection, row.uuid, {'hidden': True}, expect_change=(row.updated_at,))
    copies.show(connection, row.uuid, False)


def now(move: 'moves.AnyMove') -> tuple[server_cell.ServerCell, rows.Row] | tuple[None, None]:
    """Return (ServerCell, row) of the server at present, or (None, None) if it is gone."""
    try:
        cell = server_cell.ServerCell(move, move.world.cells.of_instance(move.instance_uuid))
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
