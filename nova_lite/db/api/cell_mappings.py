"""Cell mappings: which cells exist and how to reach each."""

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.CellMapping.__table__
CELL0_UUID = '00000000-0000-0000-0000-000000000000'


def create(connection, values):
    """Add a cell; `values` has uuid, name, transport_url, database_connection, disabled."""
    return rows.insert_returning_id(connection, TABLE, values)


def every(connection):
    """All cells, cell0 first."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id)


def get(connection, uuid):
    """One cell by uuid; raises CellMappingNotFound."""
    return rows.get(connection, TABLE, exception.CellMappingNotFound(cell=uuid), uuid=uuid)


def update(connection, uuid, values):
    """Change columns of a cell; raises CellMappingNotFound."""
    get(connection, uuid)
    rows.change(connection, TABLE, values, uuid=uuid)


def destroy(connection, uuid):
    """Remove a cell's mapping."""
    rows.delete(connection, TABLE, uuid=uuid)
