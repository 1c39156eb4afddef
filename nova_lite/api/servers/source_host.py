"""Checks that the source host of a move can take part in it."""

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.servers import acting
from nova_lite.db.cell import services


def require_up(
    req: request.Request,
    server: server_access.Server,
    host: str | None = None,
    *,
    crosses: bool = False,
) -> None:
    """Raise ServiceIsDown unless the compute service of a host is up, or HostUnheard.

    host: by default that of the server; raise InstanceNotReady if the server is on no host.
    crosses: whether the host may be in another cell
    """
    acting.require_host(server)
    host = host or server.row.host
    cell = req.app.cells.of_host(host) if crosses else server.cell
    service = cell.db.read(services.find, host)
    if service is None:
        raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
    services.require_up(service, req.conf.service_down_time)
