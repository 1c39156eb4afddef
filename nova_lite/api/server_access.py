"""Servers for handlers: found in whichever place holds them, guarded by state.

A server is in a cell, in cell0, or is a build request that is in no cell yet.
Source: reference/nova/cells-and-rpc 1.2, reference/nova/moves 1.3.
"""

import abc
from collections.abc import Callable
import datetime
import types
import typing

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import policies
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.states import transitions

_TIMES = ('created_at', 'updated_at', 'launched_at', 'terminated_at', 'deleted_at')
_NOTHING: dict[str, typing.Any] = {
    **dict.fromkeys(models.Instance.__table__.c.keys()),
    'metadata': {},
    'deleted': False,
    'hidden': False,
    'locked': False,
    'id': 0,
    'power_state': 0,
    'progress': 0,
}


C = typing.TypeVar('C')
T = typing.TypeVar('T')


class Server:
    """A server as a handler sees it.

    row: the record's columns as attributes, those of the build request while there is no record
    mapping: its instance mapping
    build_request: the row, None once the server is in a cell
    """

    __slots__ = ('_cell', 'build_request', 'mapping', 'row')

    def __init__(
        self,
        row: rows.Row,
        *,
        mapping: rows.Row,
        cell: cells.Cell | None = None,
        build_request: rows.Row | None = None,
    ) -> None:
        self.row = row
        self.mapping = mapping
        self.build_request = build_request
        self._cell = cell

    @property
    def uuid(self) -> str:
        return typing.cast(str, self.row.uuid)  # a row knows no types of its columns

    @property
    def is_in_cell(self) -> bool:
        """Return whether the server has a record; else it is a build request."""
        return self._cell is not None

    @property
    def cell(self) -> cells.Cell:
        """Return the cell of the server. Raise InstanceNotReady for a build request."""
        if self._cell is None:
            raise exception.InstanceNotReady(instance_id=self.uuid)
        return self._cell

    @property
    def build_tags(self) -> list[str]:
        """Return the tags of a build request; a record's tags are in its cell."""
        return [] if self.build_request is None else self.build_request.tags

    @property
    def target(self) -> policies.Target:
        """Return the project and the user of the server, as policies ask."""
        return {'project_id': self.row.project_id, 'user_id': self.row.user_id}

    def follow(self, found: 'Server') -> None:
        """Set row, cell and mapping to those of the same server, which was loaded again."""
        self.row, self.mapping = found.row, found.mapping
        self._cell = found.cell if found.is_in_cell else None


class Unreachable(exception.Unavailable):
    """The server's cell does not answer; only the instance mapping is known."""

    msg = 'The cell of server %(uuid)s does not answer. Try again later.'

    def __init__(self, mapping: rows.Row, reason: Exception) -> None:
        super().__init__(uuid=mapping.instance_uuid, reason=reason)
        self.mapping = mapping


class Reader(abc.ABC, typing.Generic[C]):
    """Reads a server in two transactions: of the API database, and of the server's cell.

    more: SQL expressions, as `instance_mappings.find` takes them, that the mapping has as well
    """

    more: tuple[rows.Expression, ...] = ()

    @abc.abstractmethod
    def from_cell(self, connection: sa.Connection, uuid: str) -> C:
        """Return the data of the server's cell for `take`."""

    @abc.abstractmethod
    def take(self, mapping: rows.Row, from_cell: C | None) -> rows.Row | None:
        """Return the row of the server, or None if it is hidden or not there.

        from_cell: what `from_cell` returned; None while the server is in no cell
        """


class _RecordReader(Reader[rows.Row | None]):
    """Reads the record alone."""

    def from_cell(self, connection: sa.Connection, uuid: str) -> rows.Row | None:
        return instances.find(connection, uuid)

    def take(self, mapping: rows.Row, from_cell: rows.Row | None) -> rows.Row | None:
        return None if from_cell is None or from_cell.hidden else from_cell


def load(
    req: request.Request,
    uuid: str,
    *,
    deleted: bool = False,
    reader: Reader[typing.Any] | None = None,
) -> Server:
    """Return the server with this id that the caller may know of. Raise InstanceNotFound.

    deleted: find it after it was deleted too
    reader: a Reader that reads more than the record
    """
    if not formats.is_uuid(uuid):
        raise exception.InstanceNotFound(instance_id=uuid)
    reader = reader or _RecordReader()
    server = _find(req, uuid, reader, deleted)
    if server is None:
        # Between the reads it may have moved from the build requests to a cell.
        server = _find(req, uuid, reader, deleted)
    if server is None or not may_know(req.ctxt, server.row.project_id):
        raise exception.InstanceNotFound(instance_id=uuid)
    return server


def may_know(ctxt: context.RequestContext, project_id: str | None) -> bool:
    """Return whether the caller may know that an object of this project exists."""
    return ctxt.is_admin or ctxt.project_id == project_id


def _find(
    req: request.Request, uuid: str, reader: Reader[typing.Any], deleted: bool
) -> Server | None:
    mapping, build_request = req.app.api_db.read(_mapping_and_request, uuid, reader.more)
    if mapping is None:
        return None
    if mapping.cell_id is None:
        if build_request is None:
            return None
        reader.take(mapping, None)
        return Server(row_of(build_request), build_request=build_request, mapping=mapping)
    if not may_know(req.ctxt, mapping.project_id):
        return None
    cell = req.app.cells.by_id(mapping.cell_id)
    row = reader.take(mapping, read_cell(req, cell, mapping, reader.from_cell, uuid))
    if row is None or (row.deleted and not deleted):
        return None
    return Server(row, cell=cell, mapping=mapping)


def read_cell(
    req: request.Request,
    cell: cells.Cell,
    mapping: rows.Row,
    function: Callable[..., T],
    *args: typing.Any,
    **options: typing.Any,
) -> T:
    """Return `function(connection, *args, **options)` of a cell. Raise Unreachable.

    One that is being deleted is not found then: it cannot be known whether it is gone.
    """
    answer = req.app.cells.scatter(function, *args, cells=[cell], **options)[cell]
    if isinstance(answer, cells.Unreachable):
        if mapping.queued_for_delete:
            raise exception.InstanceNotFound(instance_id=mapping.instance_uuid) from answer.error
        raise Unreachable(mapping, answer.error) from answer.error
    return answer


def _mapping_and_request(
    connection: sa.Connection, uuid: str, more: tuple[rows.Expression, ...]
) -> tuple[rows.Row | None, rows.Row | None]:
    mapping = instance_mappings.find(connection, uuid, more)
    if mapping is None or mapping.cell_id is not None:
        return mapping, None
    return mapping, build_requests.find(connection, uuid)


def row_of(build_request: rows.Row) -> rows.Row:
    """Return a build request's server with the columns of a record as attributes."""
    values = {**_NOTHING, 'created_at': build_request.created_at, **build_request.instance}
    for name in _TIMES:
        if isinstance(values.get(name), str):
            values[name] = datetime.datetime.fromisoformat(values[name])
    # Handlers read it as they read a row.
    return typing.cast(rows.Row, types.SimpleNamespace(**values))


def require_unlocked(req: request.Request, server: Server) -> None:
    """Raise InstanceIsLocked for a locked server, unless an administrator asks."""
    if server.row.locked and not req.ctxt.is_admin:
        raise exception.InstanceIsLocked(instance_id=server.uuid)


def require_state(server: Server, guard: transitions.Transition) -> None:
    """Raise InstanceInvalidState unless the transition may start."""
    row = server.row
    checks = [
        ('vm_state', row.vm_state, guard.vm_states),
        ('task_state', row.task_state, guard.task_states),
    ]
    for name, value, allowed in checks:
        if allowed is not None and value not in allowed:
            raise exception.InstanceInvalidState(
                action=guard.verb, instance_id=server.uuid, attr=name, state=value
            )
    if guard.launched and row.launched_at is None:
        raise exception.InstanceInvalidState(
            action=guard.verb, instance_id=server.uuid, attr='launched_at', state=None
        )
