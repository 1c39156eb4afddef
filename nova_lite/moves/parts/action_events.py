"""Events of the request that a saga carries out, in the server's instance actions."""

from collections.abc import Collection

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db.cell import actions
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.saga import journal


class Events:
    """The events of a saga. Errors are as Saga.error.

    subject: arguments of the saga that the notifications of the action contain
    hidden: names of the classes of errors that the user is not shown
    """

    def __init__(
        self, scope: scopes.Scope, *, subject: saga.Data, hidden: Collection[str] = ()
    ) -> None:
        self.scope, self._subject, self._hidden = scope, subject, hidden

    def shown(self, error: journal.Failure) -> journal.Failure | None:
        """Return the error that the user is shown for an error, or None."""
        return None if error.get('type') in self._hidden else error

    def start(self, connection: sa.Connection, event: str, host: str | None = None) -> None:
        """Begin an event."""
        self._start(connection, event, host, new=False)

    def start_first(self, connection: sa.Connection, event: str, host: str | None = None) -> None:
        """Begin an event that no other step begins.

        It is open already only if the step is repeated. The engine repeats a step within an epoch
        only after it has parked the saga, and then the epoch has changed.
        """
        self._start(connection, event, host, new=not self.scope.repeated)

    def _start(self, connection: sa.Connection, event: str, host: str | None, *, new: bool) -> None:
        top_host = self.scope.world.conf.host
        actions.start_event(
            connection, *self._request, event, host=host, top_host=top_host, new=new
        )

    def start_once(self, connection: sa.Connection, event: str, host: str | None) -> None:
        """Begin an event, unless it has already ended because the step is repeated."""
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
        """End the event of a destination that has refused, if the move tries another destination.

        The action continues, so it does not fail with the event.
        """
        if self.scope.going_back:
            error = self.scope.results[steps.REFUSED][-1]['error']
            actions.finish_event(connection, *self._request, event, host=host, error=error)
            actions.clear_failure(connection, *self._request)

    def end_all(self, connection: sa.Connection, error: journal.Failure | None = None) -> None:
        """End all open events, and so the action."""
        self.name_subject(connection)
        text, traceback = _texts(error and self.shown(error))
        actions.end_open(connection, *self._request, error=text, traceback=traceback)

    def name_subject(self, connection: sa.Connection) -> None:
        """Add the arguments that the saga names to the notifications of the action."""
        if self._subject:
            actions.tell_of(connection, self.scope.instance_uuid, **self._subject)

    @property
    def _request(self) -> tuple[str, str]:
        return self.scope.instance_uuid, self.scope.ctxt.request_id


def _texts(error: journal.Failure | None) -> tuple[str | None, str | None]:
    return (error['message'], error['traceback']) if error else (None, None)
