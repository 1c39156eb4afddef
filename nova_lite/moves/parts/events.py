"""Events of the request that a saga carries out, in the server's instance actions."""

from nova_lite.db.cell import actions
from nova_lite.moves import part
from nova_lite.moves import steps


class Events(part.Part):
    """The events of a saga. Errors are as Saga.error."""

    def start(self, connection, event, host=None):
        """Begin an event."""
        top_host = self.move.world.conf.host
        actions.start_event(connection, *self._request, event, host=host, top_host=top_host)

    def start_once(self, connection, event, host):
        """Begin an event unless it has ended, as it has when a step is repeated."""
        if not actions.has_ended(connection, *self._request, event, host):
            self.start(connection, event, host)

    def record(self, connection, event, host):
        """Record an event that has begun and ended at once."""
        actions.record_event(connection, *self._request, event, host=host)

    def end(self, connection, event, host, error=None):
        """End an event, if it has not ended."""
        actions.finish_event(connection, *self._request, event, host=host, **_texts(error))

    def end_refused(self, connection, event, host):
        """End the event of a destination that refused, if the move tries another one.

        The action goes on, so it does not fail with the event.
        """
        if self.move.going_back:
            error = {'message': self.results[steps.REFUSED][-1]['error'], 'traceback': None}
            self.end(connection, event, host, error)
            actions.clear_failure(connection, *self._request)

    def end_all(self, connection, error=None):
        """End all open events, and so the action."""
        self.name_subject(connection)
        actions.end_open(connection, *self._request, **_texts(error and self.move.shown(error)))

    def name_subject(self, connection):
        """Add the arguments that `named` lists to the notifications of the action."""
        move = self.move
        if move.named:
            facts = {name: getattr(move.arguments, name, None) for name in move.named}
            actions.tell_of(connection, move.instance_uuid, **facts)

    @property
    def _request(self) -> tuple[str, str]:
        return self.move.instance_uuid, self.move.ctxt.request_id


def _texts(error):
    return {'error': error['message'], 'traceback': error['traceback']} if error else {}
