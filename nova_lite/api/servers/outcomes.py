"""Wait for the result of a saga that a response contains."""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite import states
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import sagas
from nova_lite.saga import journal

# A function from the error of a saga to the class with which an operation answers, or None.
Meaning: typing.TypeAlias = Callable[[session.Json], type[exception.NovaLiteError] | None]

KINDS = {
    'invalid': exception.Invalid,
    'forbidden': exception.Forbidden,
    'not_found': exception.NotFound,
    'conflict': exception.Conflict,
    'unavailable': exception.Unavailable,
    'not_implemented': exception.NotImplementedHere,
}


def nothing(_row: rows.Row) -> None:
    """Do nothing: the request continues to wait."""


def wait(
    req: request.Request,
    uuid: str,
    is_reached: Callable[[rows.Row], object],
    *,
    timeout_s: float,
    meaning: Meaning,
    meanwhile: Callable[[rows.Row], object] = nothing,
) -> rows.Row:
    """Wait until `is_reached(row)` is true. Return the row of the saga; raise why it failed.

    A reached outcome stays if the saga fails later and ends before this function reads it, because
    the answer must not depend on the time of the reading. A saga that has failed before is undone,
    so that the request can be repeated.

    meaning: function from an error ({'type', 'kind', 'message'}) to the class to raise, or None if
    the kind of the error decides
    meanwhile(row): called for each reading; an error that it raises ends the wait, but not the saga
    """
    for _look in req.app.waiters.looks(req, timeout_s):
        row = req.app.api_db.read(sagas.get, uuid)
        if is_reached(row) or journal.outcome(row) == journal.DONE:
            return row
        if journal.outcome(row) == journal.UNDONE:
            raise _refusal(req, row, meaning)
        meanwhile(row)
    raise exception.MessagingTimeout(
        service='conductor', reason='no reply', method=row.kind, topic='conductor'
    )


def _refusal(req: request.Request, row: rows.Row, meaning: Meaning) -> exception.NovaLiteError:
    """Return the error for which a saga was undone, in the words of the API."""
    error = row.error
    found = meaning(error) or KINDS.get(error['kind'])
    if found is not None:
        return found(error['message'])
    # A host or a neighbour failed, perhaps because the server was deleted.
    server = server_access.load(req, row.instance_uuid)
    if server.row.task_state == states.TaskState.DELETING:
        return exception.InstanceInvalidState(
            action=row.kind,
            instance_id=row.instance_uuid,
            attr='task_state',
            state=server.row.task_state,
        )
    return exception.NovaLiteError(error['message'])
