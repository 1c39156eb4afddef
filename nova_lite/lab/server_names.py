"""Servers by the name or uuid that people give to commands."""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib

from oslo_config import cfg
from oslo_utils import uuidutils

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances


class NoServer(exception.InstanceNotFound):
    msg = (
        'Server %(instance_id)s could not be found. Use a name or an id that '
        '`openstack server list --all-projects` shows.'
    )


@contextlib.contextmanager
def cells_of(conf: cfg.ConfigOpts) -> Iterator[cells_module.Cells]:
    """Yield the cells of a cloud, and close them. conf: of the control daemons"""
    api_db = transactions.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, api_db)
    try:
        yield cells
    finally:
        cells.close()
        api_db.dispose()


def find(read_conf: Callable[[], cfg.ConfigOpts], server: str, *, required: bool = False) -> str:
    """Return the uuid of a server. Raise as `uuid_of`.

    read_conf: returns the configuration of the control daemons; not called for a uuid that may be
        of no server
    required: raise NoServer also for a uuid that no server has
    """
    if uuidutils.is_uuid_like(server) and not required:
        return server
    with cells_of(read_conf()) as cells:
        uuid = uuid_of(cells, server)
        if required and cells.api_db.read(instance_mappings.find, uuid) is None:
            raise NoServer(instance_id=server)
        return uuid


def uuid_of(cells: cells_module.Cells, server: str) -> str:
    """Return the uuid of the server with a name or uuid. Raise NoServer or NoUniqueMatch.

    A uuid is returned unchecked. Raise Unavailable if the server may be in a cell that does not
    answer.
    """
    if uuidutils.is_uuid_like(server):
        return server
    answers, silent = cells_module.split(cells.scatter(instances.named, server))
    found: set[str] = {row.uuid for rows in answers.values() for row in rows}
    if not found and silent:
        raise exception.Unavailable(
            service='Cell ' + ', '.join(sorted(cell.name for cell in silent)),
            reason=f'server {server} may be there. Name it by its uuid',
        )
    if not found:
        raise NoServer(instance_id=server)
    if len(found) > 1:
        raise exception.NoUniqueMatch(what='servers', name=server)
    return found.pop()
