"""The pivot of a cross-cell move: switch the mapping of a server.

The transaction itself refuses a former owner of the saga. Lists notice that a server has changed
cells while they queried one cell after the other.
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
    """Map the server to the cell `dest_id`. Do nothing if it is there already.

    Raises StaleEpoch if another process owns the saga of `ctxt`, StateChanged if the server is in
    neither cell.
    """
    sagas.hold(connection, ctxt)
    if instance_mappings.get(connection, uuid).cell_id == dest_id:
        return
    instance_mappings.switch(connection, uuid, source_id, dest_id)
    stamps.bump(connection, STAMP)


def count(connection: sa.Connection) -> int:
    """Return a number that grows each time a server changes cells."""
    return stamps.every(connection).get(STAMP, 0)
