"""Cell mappings: which cells exist and how to reach each."""

from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.db.api import stamps
from nova_lite.dialects import execute
from nova_lite.dialects import writing

TABLE = models.CellMapping.__table__
_HELD = writing.locking(sa.select(TABLE.c.id).where(TABLE.c.id == sa.bindparam('id')), shared=True)
CELL0_UUID = '00000000-0000-0000-0000-000000000000'


def create(connection: sa.Connection, values: rows.Values) -> int:
    """Add a cell; `values` has uuid, name, transport_url, database_connection, disabled.

    Return its id, which no deleted cell had: daemons find the cells that they know by id. SQLite
    would assign the id of the last cell again.
    """
    used = stamps.every(connection).get(stamps.DELETED_CELL, 0)
    if connection.dialect.name == 'sqlite' and all(row.id < used for row in every(connection)):
        values = {'id': used + 1, **values}
    return rows.insert_returning_id(connection, TABLE, values)


def every(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return all cells, cell0 first."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id)


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one cell by uuid. Raise CellMappingNotFound."""
    return rows.get(connection, TABLE, exception.CellMappingNotFound(cell=uuid), uuid=uuid)


def hold(connection: sa.Connection, cell_id: int) -> None:
    """Keep a cell from being deleted until the transaction ends. Raise CellMappingNotFound.

    cell_id: id of the mapping, which is about to be written to another row
    """
    if execute.first(connection, _HELD, {'id': cell_id}) is None:
        raise exception.CellMappingNotFound(cell=cell_id)


def update(connection: sa.Connection, uuid: str, values: rows.Values) -> None:
    """Change columns of a cell; raises CellMappingNotFound."""
    get(connection, uuid)
    rows.change(connection, TABLE, values, uuid=uuid)


def destroy(connection: sa.Connection, uuid: str) -> None:
    """Remove a cell's mapping."""
    found = rows.find(connection, TABLE, uuid=uuid)
    if found is not None:
        stamps.keep_highest(connection, stamps.DELETED_CELL, found.id)
        rows.delete(connection, TABLE, uuid=uuid)
