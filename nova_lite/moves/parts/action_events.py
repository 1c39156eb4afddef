"""Events of the request that a saga carries out, in the server's instance actions."""

import sqlalchemy as sa

from nova_lite.db.cell import actions
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.saga import journal


class Events(part.Part):
    """The events of a saga. Errors are as Saga.error."""

    def start(self, connection: sa.Connection, event: str, host: str | None = None) -> None:
        """Begin an event."""
        self._start(connection, event, host, new=False)

    def start_first(self, connection: sa.Connection, event: str, host: str | None = None) -> None:
        """Begin an event that no other step begins.

        It is open already only if the step is repeated. The engine repeats none within an epoch,
        unless it has parked the saga, after which the epoch is another.
        """
        self._start(connection, event, host, new=not self.move.repeated)

    def _start(self, connection: sa.Connection, event: str, host: str | None, *, new: bool) -> None:
        top_host = self.move.world.conf.host
        actions.start_event(
            connection, *self._request, event, host=host, top_host=top_host, new=new
        )

    def start_once(self, connection: sa.Connection, event: str, host: str | None) -> None:
        """Begin an event unless it has ended, as it has when a step is repeated."""
        if not actions.has_ended(connection, *self._request, event, host):
            self.start(connection, event, host)

    def record(self, connection: sa.Connection, event: str, host: str | None) -> None:
        """Record an event that has begun and ended at once."""
        actions.record_event(connection, *self._request, event, host=host)

    def end(
        self,
        connection: sa.Connection,
        event: str,
        host: str | None,
        error: journal.Failure | None = None,
    ) -> None:
        """End an event, if it has not ended."""
        text, traceback = _texts(error)
        actions.finish_event(
            connection, *self._request, event, host=host, error=text, traceback=traceback
        )

    def end_refused(self, connection: sa.Connection, event: str, host: str | None) -> None:
        """End the event of a destination that refused, if the move tries another one.

        The action goes on, so it does not fail with the event.
        """
        if self.move.going_back:
            error = self.results[steps.REFUSED][-1]['error']
            actions.finish_event(connection, *self._request, event, host=host, error=error)
            actions.clear_failure(connection, *self._request)

    def end_all(self, connection: sa.Connection, error: journal.Failure | None = None) -> None:
        """End all open events, and so the action."""
        self.name_subject(connection)
        text, traceback = _texts(error and self.move.shown(error))
        actions.end_open(connection, *self._request, error=text, traceback=traceback)

    def name_subject(self, connection: sa.Connection) -> None:
        """Add the arguments that `named` lists to the notifications of the action."""
        move = self.move
        if move.named:
            facts = {name: getattr(move.arguments, name, None) for name in move.named}
            actions.tell_of(connection, move.instance_uuid, **facts)

    @property
    def _request(self) -> tuple[str, str]:
        return self.move.instance_uuid, self.move.ctxt.request_id


def _texts(error: journal.Failure | None) -> tuple[str | None, str | None]:
    return (error['message'], error['traceback']) if error else (None, None)
