"""Disposal: deletion of a server without its host.

All parts may be repeated. If the process is killed, the super-conductor finds the record
or the withdrawn build request and finishes the deletion.
Source: reference/nova/create-server 7.
"""

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import attempts
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.lifecycle import counting
from nova_lite.lifecycle import server_release
from nova_lite.lifecycle import world as worlds

LOG = log.getLogger(__name__)
EVENT = action_lists.LOCAL_DELETE


def finish(
    world: worlds.World, ctxt: context.RequestContext, cell: cells.Cell, row: rows.Row
) -> None:
    """Delete a server's record after releasing its resources elsewhere."""
    host = world.cells.conf.host
    cell.db.write(actions.start_event, row.uuid, ctxt.request_id, EVENT, top_host=host)
    server_release.release_all(world, ctxt, cell.db.read, row)
    cell.db.write(_end, ctxt, row.uuid, host)
    counting.follow(world.api_db, row.uuid, counts=False)


def withdraw(world: worlds.World, ctxt: context.RequestContext, request: rows.Row) -> bool:
    """Release everything that a withdrawn build request has reserved. request: its row

    A scheduler that was called earlier may still claim resources, so this is repeated later.
    Return whether each cell has confirmed that it has no record of the server and will accept none.
    """
    uuid = request.instance_uuid
    _cleared, silent = cells.split(
        world.cells.scatter(attempts.clear, uuid, request.epoch, keep_begun=False, writes=True)
    )
    release.release(world, ctxt, uuid, request.block_devices, ports=())
    if silent:
        LOG.warning(
            'Cells %s do not answer: they may have records of server %s. Repeating this later.',
            [cell.name for cell in silent],
            uuid,
        )
    return not silent


def _end(connection: sa.Connection, ctxt: context.RequestContext, uuid: str, host: str) -> None:
    row = instances.find(connection, uuid)
    if row is None or row.deleted:
        # Another request has deleted it.
        actions.finish_event(connection, uuid, ctxt.request_id, EVENT, host=host)
        return
    if row.host is None or row.build is None:
        children.destroy_block_devices(connection, uuid)
    # Otherwise the host may be building the server, and clears the devices (compute.resume) with
    # the arguments of the build.
    children.destroy_tags(connection, uuid)
    shares.destroy(connection, uuid)
    more = {'build': None} if row.host is None else {}
    # Its guest, if any, is as it was until its host returns.
    instances.mark_deleted(connection, uuid, power_state=row.power_state, **more)
    actions.finish_event(connection, uuid, ctxt.request_id, EVENT, host=host)
    actions.end_interrupted(connection, uuid, error=f'Interrupted by {EVENT}.')
