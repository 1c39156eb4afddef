"""Facts that confirm and revert share about a server in VERIFY_RESIZE and its migration.

The source keeps the guest as it was, the migration holds the allocation on the source, and
`old_flavor` is the server's former flavor. Source: reference/nova/moves 3.1 to 3.4.
"""

from collections.abc import Callable
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db.cell import migrations
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell


class Ends(saga.Value):
    """Both ends of a move, which steps need without reading them again.

    source, dest: {'host', 'node'}; stays: whether both are the same host
    vm_state: that of the server before the move
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


def route(scope: scopes.Scope, began: Callable[[], Ends], *, crosses: bool) -> scopes.Route:
    """Return the Route of the migration. crosses: whether its source is in another cell"""

    def source() -> server_cell.ServerCell:
        return scope.side(scope.world.cells.of_host(began().source['host']))

    return scopes.Route(
        source=scopes.End(scope, lambda: _place(began().source), source if crosses else None),
        dest=scopes.End(scope, lambda: _place(began().dest)),
    )


def _place(end: saga.Data) -> tuple[str, str]:
    return end['host'], end['node']


def asked(scope: scopes.Scope, end: scopes.End, step: str) -> saga.Data:
    """Return the arguments of a call to the compute at one end. step: the step of the key"""
    return {**end.asked(step), 'move': scope.migration_uuid}
