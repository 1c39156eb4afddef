"""Changes of a server's flavor and devices in the database of the cell."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db.cell import children
from nova_lite.db.cell import instances


def flavor_columns(flavor: saga.Data) -> dict[str, typing.Any]:
    """Return the columns of a server that follow from its flavor."""
    return {
        'flavor': flavor,
        'flavor_id': flavor['id'],
        **{name: flavor[name] for name in ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb')},
    }


def forget_destination(connection: sa.Connection, uuid: str, zone: str | None) -> None:
    """Reset the columns that name the destination of a server that does not move."""
    values = {'new_flavor': None, 'availability_zone': zone}
    instances.update(connection, uuid, values)


def change_devices(
    connection: sa.Connection,
    reserved: Mapping[str, Sequence[str]],
    connected: Iterable[Mapping[str, typing.Any]] | None,
) -> None:
    """Give block devices the attachments of the host that the server is on now.

    reserved: as neighbours.reserve returned it; connected: [{'uuid', 'connection_info'}]
    """
    infos = {device['uuid']: device['connection_info'] for device in connected or ()}
    for uuid, (_former, new) in (reserved or {}).items():
        children.update_block_device(
            connection, uuid, {'attachment_id': new, 'connection_info': infos.get(uuid)}
        )
