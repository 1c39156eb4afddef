"""Servers as the metadata service finds them: by the instance mapping, in their cells."""

import dataclasses
import typing

from oslo_utils import uuidutils
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.db import engine
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import children
from nova_lite.db.cell import guest_passwords
from nova_lite.db.cell import instances
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects

T = typing.TypeVar('T')


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server with its block devices, and its cell."""

    row: rows.Row
    instance: instance_objects.Instance
    block_devices: list[block_device.BlockDevice]
    cell: cells_module.Cell


class Servers:
    """Reads servers, and records the passwords that guests report."""

    def __init__(self, api_db: engine.Database, cells: cells_module.Cells) -> None:
        self._api_db, self._cells = api_db, cells

    def get(self, uuid: str, project_id: str) -> Server:
        """Return a server of a project.

        Raise InstanceNotFound, Unavailable if its cell or the API database does not answer.
        """
        # Between the two reads it may have moved to another cell.
        server = self._find(uuid) or self._find(uuid)
        if server is None or server.row.project_id != project_id:
            raise exception.InstanceNotFound(instance_id=uuid)
        return server

    def store_password(self, server: Server, password: str) -> None:
        """Record the password that a guest has encrypted. Raise PasswordIsSet, Unavailable."""
        uuid = server.instance.uuid
        try:
            self._in_cell(server.cell, guest_passwords.store, uuid, password, writes=True)
        except exception.InstanceSealed as error:
            raise exception.Unavailable(
                f'Server {uuid} is changing cells. Try again in a moment.'
            ) from error

    def _find(self, uuid: str) -> Server | None:
        if not uuidutils.is_uuid_like(uuid):
            return None
        mapping = self._api_db.read(instance_mappings.find, uuid)
        if mapping is None or mapping.cell_id is None:
            return None
        cell = self._cells.by_id(mapping.cell_id)
        row, devices = self._in_cell(cell, _read, uuid)
        if row is None or row.deleted or row.hidden:
            return None
        return Server(
            row,
            instance_objects.Instance.from_row(row),
            [block_device.BlockDevice.of(device) for device in devices],
            cell,
        )

    def _in_cell(
        self,
        cell: cells_module.Cell,
        function: typing.Callable[..., T],
        *args: typing.Any,
        writes: bool = False,
    ) -> T:
        """Return what a transaction in a cell gives. Raise Unavailable if it does not answer."""
        answer = self._cells.scatter(function, *args, cells=[cell], writes=writes)[cell]
        if isinstance(answer, cells_module.Unreachable):
            raise exception.Unavailable(
                service=f'Cell {cell.name}', reason=answer.error
            ) from answer.error
        return answer


def _read(connection: sa.Connection, uuid: str) -> tuple[rows.Row | None, list[rows.Row]]:
    row = instances.find(connection, uuid)
    devices = children.block_devices(connection, [uuid])
    return row, devices.get(uuid, [])
