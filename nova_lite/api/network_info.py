"""Refresh the recorded network information from the network service."""

from oslo_log import log

from nova_lite import context
from nova_lite.api.servers import acting
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info

LOG = log.getLogger(__name__)

# How many changes of other requests one refresh may meet.
CHANGES_MET = 3


def refresh(req, cell, row):
    """Record the network information of a server without a task.

    What another request wrote since the row was read is newer, and says which ports are to
    be kept: refresh that then. Raises what the network client raises.
    """
    for _attempt in range(CHANGES_MET):
        if row.task_state is not None:
            return
        info = req.app.network.info(context.admin(), row.uuid, known=row.network_info)
        if info == row.network_info or cell.db.write(_store, row, info):
            return
        row = cell.db.read(instances.get, row.uuid)
    LOG.warning(
        'Cannot refresh the network information of server %s: other requests changed it %s times. '
        'The next refresh records it.',
        row.uuid,
        CHANGES_MET,
    )


def refresh_server(req, server):
    """Refresh as `refresh` does, in the cell that the server has moved to meanwhile."""
    acting.in_its_cell(req, server, lambda: refresh(req, server.cell, server.row))


def _store(connection, row, info):
    """Return whether the information was stored: only where it is as it was read."""
    now = instances.lock(connection, row.uuid)
    if now.task_state is not None or now.network_info != row.network_info:
        return False
    network_info.store(connection, row.uuid, info, task_state=None)
    return True
