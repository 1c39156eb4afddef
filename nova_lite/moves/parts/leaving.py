"""A failure that leaves the server as nova leaves it, where an option asks for that."""

from collections.abc import Callable
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import progress_records
from nova_lite.saga import journal
from nova_lite.states import nova_failures

# Records what a kind of move leaves, and returns further columns of the server.
Record: typing.TypeAlias = Callable[[sa.Connection, rows.Row], saga.Data]


class Leaving:
    """The end of a saga whose failure is left as in nova.

    asked: the arguments of the saga; record: see Record
    """

    def __init__(
        self,
        scope: scopes.Scope,
        progress: progress_records.Progress,
        asked: scopes.Arguments,
        record: Record,
    ) -> None:
        self._scope, self._progress, self._asked, self._record = scope, progress, asked, record

    def leave(self, failure: nova_failures.Failure | None) -> saga.Leave | None:
        """Return the Leave of a saga with a failure, or None if its steps are undone as usual."""
        mode = self._scope.world.conf.conductor.failures
        if failure is None or mode == nova_failures.Mode.UNDO:
            return None
        row = self._scope.find_present()
        if row is None or _is_ending(row) or not nova_failures.applies(mode, row.metadata):
            return None
        return saga.Leave(failure.name, failure.keeps)

    @property
    def failure(self) -> nova_failures.Failure | None:
        """Return the row of the failure that this saga leaves as nova does, or None."""
        return nova_failures.BY_NAME.get(self._scope.left_as or '')

    def unless_left(self, effect: Callable[[], None]) -> Callable[[], None]:
        """Return an effect that does nothing if a failure is left as in nova."""
        return lambda: effect() if self.failure is None else None

    def settle(
        self, connection: sa.Connection, row: rows.Row | None, error: journal.Failure | None
    ) -> None:
        """Record the states in which nova leaves the server and the migration.

        A server whose soft deletion was accepted keeps its states, so that the deletion continues.
        row: None if the server is gone; error: the fault of the server
        """
        failure = self.failure
        if failure is None or row is None or instances.is_gone(row):
            return
        changes = self._record(connection, row)
        if _is_ending(row):
            instances.force(connection, row.uuid, changes, expect_task=(row.task_state,))
            return
        if failure.migration is not None:
            values = {'status': str(failure.migration)}
            migrations.update(connection, self._scope.migration_uuid, values)
        if failure.vm_state is not None:
            changes = {**changes, 'vm_state': failure.vm_state}
        if failure.keeps_task:
            changes = {**changes, 'task_state': row.task_state}
        tasks = (*self._scope.tasks, self._asked.order.changes.get('task_state'))
        self._progress.clear_task(connection, changes, tasks=tasks, write=instances.force)
        if failure.has_fault:
            self._progress.add_fault(connection, error)


def _is_ending(row: rows.Row) -> bool:
    """Return whether a server is soft-deleted or being soft-deleted."""
    is_done: bool = row.vm_state == states.VmState.SOFT_DELETED
    return is_done or bool(row.task_state == states.TaskState.SOFT_DELETING)
