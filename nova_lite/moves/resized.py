"""Facts that confirm and revert share about a server in VERIFY_RESIZE and its migration.

The source keeps the guest as it was, the migration holds the allocation on the source, and
`old_flavor` is the server's former flavor. Source: reference/nova/moves 3.1 to 3.4.
"""

import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db.cell import migrations
from nova_lite.moves import server_cell

if typing.TYPE_CHECKING:
    from nova_lite.moves import confirm
    from nova_lite.moves import revert

    Resized: typing.TypeAlias = confirm.ConfirmResize | revert.RevertResize


def crosses(move: 'Resized') -> bool:
    """Return whether the source is in another cell."""
    return move.kind in move.also


def source_cell(move: 'Resized') -> server_cell.ServerCell:
    """Return the source's cell as steps use it. move: see `asked`"""
    if not crosses(move):
        return move.here
    cell = move.world.cells.of_host(move.began.source['host'])
    return server_cell.ServerCell(move, cell)


class Ends(saga.Value):
    """Both ends of a move, which steps need without reading them again.

    source, dest: {'host', 'node'}; stays: both are one host
    vm_state: of the server before the move
    """

    source: saga.Data
    dest: saga.Data
    stays: bool
    vm_state: str

    @classmethod
    def of(cls, connection: sa.Connection, migration_uuid: str, **more: typing.Any) -> typing.Self:
        """Return the ends of a migration. more: fields of a subclass"""
        row = migrations.get(connection, migration_uuid)
        return cls(
            source={'host': row.source_compute, 'node': row.source_node},
            dest={'host': row.dest_compute, 'node': row.dest_node},
            stays=row.source_compute == row.dest_compute,
            vm_state=row.old_vm_state,
            **more,
        )


def asked(move: 'Resized', which: str, step: str) -> saga.Data:
    """Return the arguments of a call to the compute at one end.

    move: whose `began` is an Ends; which: 'source' or 'dest'; step: for the key
    """
    end = getattr(move.began, which)
    return {**move.asked(end['host'], end['node'], step), 'move': move.migration_uuid}
