"""The progress of a move, as its records show it: task, migration, events and faults."""

from collections.abc import Callable

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import action_events
from nova_lite.saga import journal

LOG = log.getLogger(__name__)

# (name of an event, host or None)
Event = tuple[str, str | None]


class Progress:
    """The records of a saga whose server has one of the tasks of the scope."""

    def __init__(self, scope: scopes.Scope, events: action_events.Events) -> None:
        self.scope, self.events = scope, events

    def note(
        self,
        connection: sa.Connection,
        *,
        status: str | None = None,
        changes: rows.Values | None = None,
        started: Event | None = None,
        ended: Event | None = None,
        expect: scopes.Tasks | None = None,
    ) -> None:
        """Record the progress of the move.

        status: of the migration; changes: columns of the server, whose task must be in `expect`
        (default: the saga's tasks); started, ended: (event, host)
        Raise StateChanged if the server is no longer in this move.
        """
        scope, expect = self.scope, expect or self.scope.tasks
        instances.update(connection, scope.instance_uuid, changes or {}, expect_task=expect)
        if status is not None:
            migrations.update(connection, scope.migration_uuid, {'status': str(status)})
        if ended:
            self.events.end(connection, *ended)
        if started:
            self.events.start_first(connection, *started)

    # The same in a transaction of its own.
    record = scopes.transaction(note)

    def clear_task(
        self,
        connection: sa.Connection,
        changes: rows.Values,
        *,
        tasks: scopes.Tasks | None = None,
        write: Callable[..., object] = instances.update,
    ) -> None:
        """Clear the task and change columns, unless another request has set the task.

        tasks: the task states to clear; default: the saga's
        write: function of `instances` that changes the server
        """
        uuid, changes = self.scope.instance_uuid, {'task_state': None, **changes}
        tasks = tasks or self.scope.tasks
        try:
            write(connection, uuid, changes, expect_task=tasks)
        except exception.StateChanged as error:
            LOG.info(
                'Server %s was changed by another request; not updating its state: %s', uuid, error
            )
        except exception.TransitionRefused:
            # A defect: without this the server would keep its task forever.
            LOG.exception('Cannot restore server %s. Its status is ERROR.', uuid)
            lost = {**changes, 'vm_state': states.VmState.ERROR}
            instances.force(connection, uuid, lost, expect_task=tasks)

    @scopes.transaction
    def end(self, connection: sa.Connection) -> None:
        """Clear the task and end the action."""
        self.clear_task(connection, {})
        self.events.end_all(connection)

    def add_fault(self, connection: sa.Connection, error: journal.Failure | None) -> None:
        """Add a fault to the server, if the user is shown the error. error: as Saga.error"""
        if error is not None and self.events.shown(error):
            instances.add_fault(
                connection,
                self.scope.instance_uuid,
                message=error['message'],
                details=error['traceback'],
            )
