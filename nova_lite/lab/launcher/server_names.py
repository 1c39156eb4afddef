"""Servers by the name or uuid that people give to commands."""

import contextlib

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
def cells_of(conf):
    """Yield the cells of a cloud, by the configuration of its control daemons; close them then."""
    api_db = transactions.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, api_db)
    try:
        yield cells
    finally:
        cells.close()
        api_db.dispose()


def find(cloud, server, *, required=False):
    """Return the uuid of a server of a which_cloud.Cloud. Raise as `uuid_of`.

    required: raise NoServer also for a uuid that no server has
    """
    if uuidutils.is_uuid_like(server) and not required:
        return server
    with cells_of(cloud.conf()) as cells:
        uuid = uuid_of(cells, server)
        if required and cells.api_db.read(instance_mappings.find, uuid) is None:
            raise NoServer(instance_id=server)
        return uuid


def uuid_of(cells, server):
    """Return the uuid of a server. Raise NoServer or NoUniqueMatch for a name.

    A cell that does not answer is skipped. Raise Unavailable if the server may be there.
    """
    if uuidutils.is_uuid_like(server):
        return server
    answers, silent = cells_module.split(cells.scatter(instances.named, server))
    found = {row.uuid for rows in answers.values() for row in rows}
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
