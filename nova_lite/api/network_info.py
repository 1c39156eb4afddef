"""Refresh the recorded network information of a server after a change by its user."""

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import acting
from nova_lite.lifecycle import port_changes


def refresh_server(req: request.Request, server: server_access.Server) -> None:
    """Record the current ports of the network service, in the server's current cell.

    If a task or saga works at the server, the super-conductor refreshes the record afterwards.
    """
    if port_changes.is_busy(req.app, server.row):
        port_changes.note(req.app, server.uuid)
    if server.row.task_state is not None:
        return
    try:
        acting.in_its_cell(req, server, lambda: _refresh(req, server))
    except exception.StateChanged:
        port_changes.note(req.app, server.uuid)


def _refresh(req: request.Request, server: server_access.Server) -> None:
    port_changes.refresh(req.app, server.cell, server.row)
