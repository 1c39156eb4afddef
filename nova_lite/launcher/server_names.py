"""Servers by the name or uuid that people give to commands."""

import contextlib

from oslo_utils import uuidutils

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.db import engine
from nova_lite.db.cell import instances


@contextlib.contextmanager
def cells_of(conf):
    """Yield the cells of a cloud, by the configuration of its control daemons; close them then."""
    api_db = engine.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, api_db)
    try:
        yield cells
    finally:
        cells.close()
        api_db.dispose()


def uuid_of(cells, server):
    """Return the uuid of a server. Raise InstanceNotFound or NoUniqueMatch for a name."""
    if uuidutils.is_uuid_like(server):
        return server
    found = {
        row.uuid
        for rows in cells.scatter(instances.named, server).values()
        if not isinstance(rows, cells_module.Unreachable)
        for row in rows
    }
    if not found:
        raise exception.InstanceNotFound(instance_id=server)
    if len(found) > 1:
        raise exception.NoUniqueMatch(what='servers', name=server)
    return found.pop()
