"""Ports of a server that its user has created, which are not deleted with the server.

`preserve_on_delete` in network_info marks these ports. A port belongs to the server already during
its attachment, before it is in network_info, and while a failed attachment cannot be undone. A key
of the server's system metadata names the port until the attachment is recorded or undone.
"""

import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info

PREFIX = 'user_port:'


class Port(typing.TypedDict):
    """A port of a server, for its deletion."""

    id: str
    preserve_on_delete: bool


def of(row: rows.Row) -> set[str]:
    """Return the ids of the ports that users have created.

    row: the server's; during a build the requested ports are included
    """
    found = {vif['id'] for vif in row.network_info or () if vif.get('preserve_on_delete')}
    requested = (row.build or {}).get('requested_networks')
    if isinstance(requested, list):
        found.update(request['port_id'] for request in requested if request.get('port_id'))
    return found | _noted(row)


def described(row: rows.Row) -> list[Port]:
    """Return [{'id', 'preserve_on_delete'}] of the ports in the server's record."""
    kept = of(row)
    ids = [vif['id'] for vif in row.network_info or ()]
    ids += sorted(_noted(row) - set(ids))
    return [{'id': port_id, 'preserve_on_delete': port_id in kept} for port_id in ids]


def note(connection: sa.Connection, row: rows.Row, port_id: str) -> None:
    """Record that a port belongs to the user, in the transaction that has locked the row."""
    key = PREFIX + port_id
    if key not in row.system_metadata:
        metadata = {**row.system_metadata, key: 'yes'}
        network_info.change(connection, row.uuid, {'system_metadata': metadata})


def forget(connection: sa.Connection, uuid: str, port_id: str) -> None:
    """Remove the note. A port that is in network_info is marked as preserved there."""
    key = PREFIX + port_id
    row = instances.held(connection, uuid)
    if row is None or key not in row.system_metadata:
        return
    metadata = {name: value for name, value in row.system_metadata.items() if name != key}
    info = [
        {**vif, 'preserve_on_delete': True} if vif['id'] == port_id else vif
        for vif in row.network_info or ()
    ]
    values = {'system_metadata': metadata, 'network_info': info}
    network_info.change(connection, uuid, values)


def _noted(row: rows.Row) -> set[str]:
    return {
        name.removeprefix(PREFIX) for name in row.system_metadata or () if name.startswith(PREFIX)
    }
