"""Refused deletions: the end of deletions without a host that a neighbour keeps refusing.

An audit repeats such a deletion while a service does not answer. A refusal is repeated for some
time only. Then the deletion ends as it does on a host: the server gets the status ERROR and a
fault, and its user may delete it again.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import traceback
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances

LOG = log.getLogger(__name__)
# Another process may have ended a deletion whose refusals are kept for longer.
FORGOTTEN_S = 3600
# Seconds after the first refusal in which a refusal is repeated.
REPEATED_S = 180


class RefusedDeletions:
    """The refusals that an audit has met. After a restart of the process they begin again."""

    def __init__(self) -> None:
        # {uuid of the server: (`_request`, time of its first refusal)}
        self._since: dict[str, tuple[int | None, float]] = {}

    @contextlib.contextmanager
    def ending(
        self,
        write: Callable[..., typing.Any],
        row: rows.Row,
        *,
        read: Callable[..., typing.Any],
        host: str | None = None,
    ) -> Iterator[None]:
        """End a deletion that the block repeats, if a neighbour has refused it for REPEATED_S.

        Any other error is raised. Each request to delete the server has a time of its own.
        write, read: of the server's cell; row: the server
        host: of this service, for the event; None
        """
        try:
            yield
        except exception.NovaLiteError as error:
            if error.transient or not self._is_over(row.uuid, read(_request, row.uuid)):
                raise
            details = ''.join(traceback.format_exception(error))
            write(_end, row, error=error.message, details=details, host=host)
            LOG.warning('Server %s cannot be deleted: %s', row.uuid, error)
        self._since.pop(row.uuid, None)

    def _is_over(self, uuid: str, request: int | None) -> bool:
        """Note a refusal. Return whether the refusals are over. request: see `_request`"""
        now = runtime.monotonic()
        long_ago = now - FORGOTTEN_S
        self._since = {each: found for each, found in self._since.items() if found[1] > long_ago}
        known, since = self._since.get(uuid, (None, now))
        if known != request:
            since = now
        self._since[uuid] = (request, since)
        return now - since >= REPEATED_S


def _request(connection: sa.Connection, uuid: str) -> int | None:
    """Return the id of the newest action that deletes a server, or None."""
    action = action_lists.newest_deletion(connection, uuid)
    return None if action is None else action.id


def _end(
    connection: sa.Connection, row: rows.Row, *, error: str, details: str, host: str | None
) -> None:
    """Record the refused deletion."""
    action = action_lists.newest_deletion(connection, row.uuid)
    instances.update(
        connection,
        row.uuid,
        {'vm_state': str(states.VmState.ERROR), 'task_state': None},
        expect_task=(row.task_state,),
        expect_host=(row.host,),
    )
    instances.add_fault(connection, row.uuid, message=error, details=details, host=row.host)
    if action is not None:
        event = action_lists.LOCAL_DELETE
        actions.start_event(connection, row.uuid, action.request_id, event, top_host=host)
        actions.end_open(connection, row.uuid, action.request_id, error=error, traceback=details)
        actions.end_interrupted(connection, row.uuid, error=f'Interrupted by {event}.')
