"""Servers as the metadata service finds them: by the instance mapping, or in one cell."""

from collections.abc import Iterable
import dataclasses
import typing

from oslo_utils import uuidutils
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import children
from nova_lite.db.cell import guest_passwords
from nova_lite.db.cell import instances
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects

T = typing.TypeVar('T')
Found: typing.TypeAlias = tuple[rows.Row | None, list[rows.Row]]


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server with its block devices. cell: that of its record; None if only one cell is known"""

    row: rows.Row
    instance: instance_objects.Instance
    block_devices: list[block_device.BlockDevice]
    cell: cells_module.Cell | None = None


class Servers(typing.Protocol):
    """Reads servers, and records the passwords that guests report."""

    def get(self, uuid: str, project_id: str) -> Server:
        """Return a server of a project. Raise InstanceNotFound or Unavailable."""

    def store_password(self, server: Server, password: str) -> None:
        """Record the password that a guest has encrypted. Raise PasswordIsSet, Unavailable."""


class AllServers:
    """The servers of all cells."""

    def __init__(self, api_db: transactions.Database, cells: cells_module.Cells) -> None:
        self._api_db, self._cells = api_db, cells

    def get(self, uuid: str, project_id: str) -> Server:
        # The server may move to another cell between the two reads.
        return _require(uuid, project_id, self._find(uuid) or self._find(uuid))

    def store_password(self, server: Server, password: str) -> None:
        if server.cell is None:
            raise ValueError(f'server {server.instance.uuid} was found in no cell')
        uuid = server.instance.uuid
        try:
            self._in_cell(server.cell, guest_passwords.store, uuid, password, writes=True)
        except exception.InstanceSealed as error:
            raise _changing_cells(uuid) from error

    def _find(self, uuid: str) -> Server | None:
        if not uuidutils.is_uuid_like(uuid):
            return None
        mapping = self._api_db.read(instance_mappings.find, uuid)
        if mapping is None or mapping.cell_id is None:
            return None
        cell = self._cells.by_id(mapping.cell_id)
        return _server(*self._in_cell(cell, _read, uuid), cell=cell)

    def _in_cell(
        self,
        cell: cells_module.Cell,
        function: typing.Callable[..., T],
        *args: typing.Any,
        writes: bool = False,
    ) -> T:
        """Make a transaction in a cell.

        Return its result. Raise Unavailable if it does not answer.
        """
        answer = self._cells.scatter(function, *args, cells=[cell], writes=writes)[cell]
        if isinstance(answer, cells_module.Unreachable):
            raise exception.Unavailable(
                service=f'Cell {cell.name}', reason=answer.error
            ) from answer.error
        return answer


class CellServers:
    """The servers of one cell. database: that of the cell"""

    def __init__(self, database: transactions.Database) -> None:
        self._database = database

    def get(self, uuid: str, project_id: str) -> Server:
        found = self._database.read(_read, uuid) if uuidutils.is_uuid_like(uuid) else (None, [])
        return _require(uuid, project_id, _server(*found))

    def store_password(self, server: Server, password: str) -> None:
        uuid = server.instance.uuid
        try:
            self._database.write(guest_passwords.store, uuid, password)
        except exception.InstanceSealed as error:
            raise _changing_cells(uuid) from error


def _read(connection: sa.Connection, uuid: str) -> Found:
    row = instances.find(connection, uuid)
    devices = children.block_devices(connection, [uuid])
    return row, devices.get(uuid, [])


def _server(
    row: rows.Row | None, devices: Iterable[rows.Row], *, cell: cells_module.Cell | None = None
) -> Server | None:
    """Return the Server of a visible record; None for a deleted or hidden record."""
    if row is None or row.deleted or row.hidden:
        return None
    return Server(
        row,
        instance_objects.Instance.from_row(row),
        [block_device.BlockDevice.of(device) for device in devices],
        cell,
    )


def _require(uuid: str, project_id: str, server: Server | None) -> Server:
    if server is None or server.row.project_id != project_id:
        raise exception.InstanceNotFound(instance_id=uuid)
    return server


def _changing_cells(uuid: str) -> exception.Unavailable:
    return exception.Unavailable(f'Server {uuid} is changing cells. Try again in a moment.')
