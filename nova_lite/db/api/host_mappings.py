"""Host mappings: the cell of each compute host."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import models
from nova_lite.dialects import execute
from nova_lite.dialects import writing

TABLE = models.HostMapping.__table__
_ONE_OF_CELL = sa.select(TABLE.c.id).where(TABLE.c.cell_id == sa.bindparam('cell_id')).limit(1)
_KEPT = writing.locking(
    sa.select(TABLE.c.host).where(
        TABLE.c.host.in_(sa.bindparam('hosts')), TABLE.c.cell_id == sa.bindparam('cell_id')
    ),
    shared=True,
)
_KNOWN = sa.select(TABLE.c.host).where(TABLE.c.host.in_(sa.bindparam('hosts')))


def create_missing(connection: sa.Connection, cell_id: int, hosts: Collection[str]) -> list[str]:
    """Map the hosts that have no mapping. Return these hosts. Raise CellMappingNotFound."""
    cell_mappings.hold(connection, cell_id)
    known = set(connection.scalars(_KNOWN, {'hosts': list(hosts)}))
    new = [host for host in hosts if host not in known]
    rows.insert(connection, TABLE, [{'cell_id': cell_id, 'host': host} for host in new])
    return new


def get(connection: sa.Connection, host: str) -> rows.Row:
    """Return one mapping. Raise HostMappingNotFound."""
    return rows.get(connection, TABLE, exception.HostMappingNotFound(host=host), host=host)


def hold(connection: sa.Connection, hosts: Collection[str], cell_id: int) -> None:
    """Keep hosts mapped to a cell until the transaction ends. Raise HostMappingNotFound."""
    given = {'hosts': execute.filled(hosts), 'cell_id': cell_id}
    kept = set(execute.values(connection, _KEPT, given))
    for host in hosts:
        if host not in kept:
            raise exception.HostMappingNotFound(host=host)


def every(connection: sa.Connection, cell_id: int | None = None) -> Sequence[rows.Row]:
    """Return all mappings, or those of one cell."""
    where: dict[str, typing.Any] = {} if cell_id is None else {'cell_id': cell_id}
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def has_any(connection: sa.Connection, cell_id: int) -> bool:
    """Return whether a host is mapped to a cell."""
    return connection.scalar(_ONE_OF_CELL, {'cell_id': cell_id}) is not None


def cell_ids(connection: sa.Connection, hosts: Iterable[str]) -> dict[str, int]:
    """Return {host: cell id} of the mapped hosts among `hosts`."""
    found = rows.every(connection, TABLE, host=list(hosts))
    return {row.host: row.cell_id for row in found}


def destroy(connection: sa.Connection, host: str) -> int:
    """Remove a host's mapping. Return the number of deleted rows."""
    return rows.delete(connection, TABLE, host=host)
