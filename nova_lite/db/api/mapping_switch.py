"""The pivot of a cross-cell move: switch the mapping of a server.

A former owner of the saga is refused in the transaction itself, and lists notice
that a server has changed cells while they asked one cell after the other.
"""

import sqlalchemy as sa

from nova_lite import context
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.api import stamps

STAMP = 'crossings'


def switch(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    uuid: str,
    *,
    source_id: int,
    dest_id: int,
) -> None:
    """Map the server to the cell `dest_id`; nothing when it is there already.

    Raises StaleEpoch when someone else runs the saga of `ctxt`, StateChanged when the
    server is in neither cell.
    """
    sagas.hold(connection, ctxt)
    if instance_mappings.get(connection, uuid).cell_id == dest_id:
        return
    instance_mappings.switch(connection, uuid, source_id, dest_id)
    stamps.bump(connection, STAMP)


def count(connection: sa.Connection) -> int:
    """Return a number that grows whenever a server changes cells."""
    return stamps.every(connection).get(STAMP, 0)
