"""Guests that undone moves may have left running on hosts that could not remove them.

The server is on its source, in error and off, or on no host as before. Before the server is
started, every such destination must remove its guest, so that the server never runs twice. This
also happens before the server loses a volume, so that two guests never write to the volume.
"""

from oslo_log import log

from nova_lite import cells
from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.db import rows
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

WAIT_S, LONGEST_LOOK_S = 10, 1


class MayRunElsewhere(exception.Conflict):
    msg = (
        'Server %(instance_id)s may still run on host %(host)s after a move to it failed. '
        'Try again when the host is up or an operator has forced it down.'
    )


def remove(req: request.Request, server: server_access.Server) -> None:
    """Remove guests of a server from other hosts. Raise MayRunElsewhere if a host fails."""
    if not server.is_in_cell:
        return
    for migration in server.cell.db.read(migrations.left_behind, server.uuid):
        place = migration.data[migrations.LEFT]
        if place['host'] == server.row.host:
            continue
        req.app.waiters.enter(req)
        if not _is_off(req, server, migration, place):
            raise MayRunElsewhere(instance_id=server.uuid, host=place['host'])
        server.cell.db.write(migrations.drop_left, migration.uuid)


def _is_off(
    req: request.Request, server: server_access.Server, migration: rows.Row, place: dict[str, str]
) -> bool:
    """Return whether the host, or an operator, reports that it has no guest of the server."""
    try:
        cell = req.app.cells.of_host(place['host'])
        service = cell.db.read(services.find, place['host'])
        if service is None or service.forced_down:
            return True
        if not services.is_up(service, req.conf.service_down_time):
            return False
        return _remove(req, server, cell, migration, place)
    except exception.HostMappingNotFound:
        return True
    except (exception.Unavailable, exception.DriverError) as error:
        LOG.warning('Cannot remove server %s from host %s: %s', server.uuid, place['host'], error)
        return False


def _remove(
    req: request.Request,
    server: server_access.Server,
    cell: cells.Cell,
    migration: rows.Row,
    place: dict[str, str],
) -> bool:
    """Request a host that is up to remove the guest. Return whether it did so in time."""
    deadline = runtime.monotonic() + WAIT_S
    while True:
        answer = req.app.compute(cell).revert_resize(
            req.ctxt,
            host=place['host'],
            instance_uuid=server.uuid,
            node=place['node'],
            move=migration.uuid,
            key=f'{migration.uuid}/left/{req.ctxt.request_id}',
        )
        if 'done' in answer or runtime.monotonic() > deadline:
            return 'done' in answer
        req.app.waiters.pause(req, min(answer['pending'], LONGEST_LOOK_S))
