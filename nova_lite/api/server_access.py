"""Servers for handlers: found in whichever place holds them, guarded by state.

A server is in a cell, in cell0, or is a build request that is in no cell yet.
Source: reference/nova/cells-and-rpc 1.2, reference/nova/moves 1.3.
"""

import datetime
import types

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import formats
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from nova_lite.db.cell import models

_TIMES = ('created_at', 'updated_at', 'launched_at', 'terminated_at', 'deleted_at')
_NOTHING = {
    **dict.fromkeys(models.Instance.__table__.c.keys()),
    'metadata': {},
    'deleted': False,
    'hidden': False,
    'locked': False,
    'id': 0,
    'power_state': 0,
    'progress': 0,
}


class Server:
    """A server as a handler sees it.

    row: the record's columns as attributes
    cell: where it is; None while it is a build request
    build_request: the row, while it is one
    mapping: its instance mapping
    """

    __slots__ = ('build_request', 'cell', 'mapping', 'row')

    def __init__(self, row, *, cell=None, build_request=None, mapping=None):
        self.row = row
        self.cell = cell
        self.build_request = build_request
        self.mapping = mapping

    @property
    def uuid(self):
        return self.row.uuid

    @property
    def target(self):
        """Whose it is, as policies ask."""
        return {'project_id': self.row.project_id, 'user_id': self.row.user_id}

    def follow(self, found):
        """Be where the same server was found when it was loaded again."""
        self.row, self.cell, self.mapping = found.row, found.cell, found.mapping


class Unreachable(exception.Unavailable):
    """The server's cell does not answer; `mapping` is what is known of it."""

    msg = 'The cell of server %(uuid)s does not answer. Try again later.'

    def __init__(self, mapping, reason):
        super().__init__(uuid=mapping.instance_uuid, reason=reason)
        self.mapping = mapping


class Reader:
    """Reads of a server what `load` needs: its record.

    A subclass reads more in the same two transactions.
    """

    def from_api_db(self, _connection, _uuid):
        """Return what `take` is to have of the API database."""

    # (connection, uuid): what `take` is to have of the server's cell
    from_cell = staticmethod(instances.find)

    def take(self, _uuid, _from_api_db, from_cell):
        """Return the row of the server, or None if it is hidden or not there.

        from_cell: what `from_cell` returned; None while the server is in no cell
        """
        return None if from_cell is None or from_cell.hidden else from_cell


def load(req, uuid, *, deleted=False, reader=None):
    """Return the server with this id that the caller may know of. Raise InstanceNotFound.

    deleted: find it after it was deleted too
    reader: a Reader that reads more than the record
    """
    if not formats.is_uuid(uuid):
        raise exception.InstanceNotFound(instance_id=uuid)
    reader = reader or Reader()
    server = _find(req, uuid, reader, deleted)
    if server is None:
        # Between the reads it may have moved from the build requests to a cell.
        server = _find(req, uuid, reader, deleted)
    if server is None or not may_know(req.ctxt, server.row.project_id):
        raise exception.InstanceNotFound(instance_id=uuid)
    return server


def may_know(ctxt, project_id):
    """Return whether the caller may know that an object of this project exists."""
    return ctxt.is_admin or ctxt.project_id == project_id


def _find(req, uuid, reader, deleted):
    mapping, build_request, more = req.app.api_db.read(_mapping_and_request, uuid, reader)
    if mapping is None:
        return None
    if mapping.cell_id is None:
        if build_request is None:
            return None
        reader.take(uuid, more, None)
        return Server(row_of(build_request), build_request=build_request, mapping=mapping)
    if not may_know(req.ctxt, mapping.project_id):
        return None
    cell = req.app.cells.by_id(mapping.cell_id)
    row = reader.take(uuid, more, read_cell(req, cell, mapping, reader.from_cell, uuid))
    if row is None or (row.deleted and not deleted):
        return None
    return Server(row, cell=cell, mapping=mapping)


def read_cell(req, cell, mapping, function, *args, **kwargs):
    """Read from a server's cell; raises Unreachable when the cell is down.

    One that is being deleted is not found then: it cannot be known whether it is gone.
    """
    answer = req.app.cells.scatter(function, *args, cells=[cell], **kwargs)[cell]
    if isinstance(answer, cells.Unreachable):
        if mapping.queued_for_delete:
            raise exception.InstanceNotFound(instance_id=mapping.instance_uuid) from answer.error
        raise Unreachable(mapping, answer.error) from answer.error
    return answer


def _mapping_and_request(connection, uuid, reader):
    mapping = instance_mappings.find(connection, uuid)
    if mapping is None:
        return None, None, None
    build_request = None
    if mapping.cell_id is None:
        build_request = build_requests.find(connection, uuid)
    return mapping, build_request, reader.from_api_db(connection, uuid)


def row_of(build_request):
    """Return a build request's server with the columns of a record as attributes."""
    values = {**_NOTHING, 'created_at': build_request.created_at, **build_request.instance}
    for name in _TIMES:
        if isinstance(values.get(name), str):
            values[name] = datetime.datetime.fromisoformat(values[name])
    return types.SimpleNamespace(**values)


def require_unlocked(req, server):
    """Raise InstanceIsLocked for a locked server, unless an administrator asks."""
    if server.row.locked and not req.ctxt.is_admin:
        raise exception.InstanceIsLocked(instance_id=server.uuid)


def require_state(server, guard):
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
