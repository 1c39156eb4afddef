"""Release of the resources that a server has at other services, for deletions without a host."""

from collections.abc import Callable
import typing

from nova_lite import context
from nova_lite.clients import client_set
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import children
from nova_lite.db.cell import shares
from nova_lite.db.cell import user_ports


def release_all(
    clients: client_set.Clients,
    ctxt: context.RequestContext,
    read: Callable[..., typing.Any],
    row: rows.Row,
) -> None:
    """Release allocations, ports, volumes, images and shares of a server.

    read: of the database of the server's cell; row: the server
    """
    found = read(children.block_devices, [row.uuid])
    devices = [device._mapping for device in found.get(row.uuid, ())]
    images = release.images_of(row, read(action_lists.is_copying, row.uuid))
    ports = user_ports.described(row)
    release.release(clients, ctxt, row.uuid, devices, ports=ports, images=images)
    release.revoke_shares(clients.share, ctxt, row.uuid, read(shares.of_server, row.uuid))
