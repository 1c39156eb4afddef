"""Base of all moves: their begin, and their failure.

A move reads the server's row again in each step, because the user may delete the server at
any time. The step that notices a deletion undoes the move. An undo that restored something of
a deleted server removes it again, and the host deletes the rest.
Source: contributor/architecture, Sagas; reference/nova/moves 3 and 6.
"""

import abc
from collections.abc import Collection
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import action_events
from nova_lite.moves.parts import leaving
from nova_lite.moves.parts import progress_records
from nova_lite.states import nova_failures

# The result of the first step: facts about the server when the saga began.
Found = typing.TypeVar('Found', covariant=True)


class Move(saga.Saga, typing.Generic[Found]):
    """Base class of moves. A subclass makes its parts when it is made.

    tasks: the task states that this saga sets, and may clear
    refusable: ids of steps whose refusal leads to another destination
    harmless: ids of further steps whose undo may fail without breaking the server, as for `Step`
    first: id of the first step
    named: arguments that notifications of this saga contain
    hidden: names of the classes of errors that the user is not shown
    faults: whether a failure adds a fault to the server; False for sagas that set no task state
    source: the host that the server was on when the saga began
    """

    world: worlds.World
    ctxt: context.RequestContext
    arguments: scopes.Arguments
    tasks: scopes.Tasks = ()
    refusable: Collection[str] = ()
    harmless: Collection[str] = ()
    first: saga.Result[Found]
    named: Sequence[str] = ()
    hidden: Sequence[str] = ()
    faults = True

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        asked = self.arguments
        self.scope = scope = scopes.Scope(self, asked, tasks=self.tasks, present=self._present)
        self.source = scopes.End(scope, self._place)
        subject = {name: getattr(asked, name, None) for name in self.named}
        self.events = action_events.Events(scope, subject=subject, hidden=self.hidden)
        self.progress = progress_records.Progress(scope, self.events)
        self.leaving = leaving.Leaving(scope, self.progress, asked, self.record_left)

    def _present(self) -> server_cell.ServerCell:
        """Return the ServerCell whose record represents the server."""
        return self.scope.here

    def _place(self) -> tuple[str | None, str | None]:
        """Return the host and the node that the server was on when the saga began."""
        began: typing.Any = self.began
        return began.host, began.node

    # ---- the first step ----

    def beginning(
        self, *, at: places.Place = places.SOURCE_RECORDS, **options: typing.Any
    ) -> saga.Step:
        """Return the first step, which records the begin of the move. options: of saga.Step"""
        return at.step(self.first, self.begin, self.give_up, **options)

    @scopes.transaction
    def begin(self, connection: sa.Connection) -> Found:
        """Repeat the API's transaction, which may not have been made, and add our records."""
        moves.begin(connection, self.ctxt, self.instance_uuid, self.arguments.order)
        self.events.name_subject(connection)
        return self.record_begin(connection, instances.find(connection, self.instance_uuid))

    @property
    def began(self) -> Found:
        """Return the result of `record_begin`."""
        return self.results[self.first]

    @property
    def has_begun(self) -> bool:
        """Return whether the first step is done."""
        return self.first in self.results

    @abc.abstractmethod
    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Found:
        """Record the begin of a kind of move. Return the result of the first step.

        row: the server's, which may be gone already (`instances.is_gone`)
        """

    # ---- its undo: the move has failed ----

    def give_up(self) -> asking.Reply:
        """Undo `begin`: record the failure and clear the server's task."""
        self.scope.write(self._give_up)
        return None

    @scopes.ending
    def _give_up(self, connection: sa.Connection) -> None:
        order = self.arguments.order
        if not moves.has_begun(connection, self.ctxt, self.instance_uuid, order):
            return
        row = instances.find(connection, self.instance_uuid)
        present = None if instances.is_gone(row) else row
        self.record_undo(connection, present)
        if present is not None and self.leaving.failure is not None:
            self.leaving.settle(connection, present, self.error)
        elif self.faults and present is not None:
            self._free(connection, present)
        self.events.end_all(connection, self.error)

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        """Record the undo of a kind of move. row: None if the server is gone

        A migration that the user's request claimed gets its former status.
        """
        claims = self.arguments.order.claims
        if claims:
            migrations.update(connection, claims['uuid'], {'status': claims['from'][0]})

    def _free(self, connection: sa.Connection, row: rows.Row) -> None:
        """Clear the task and add a fault. Set a server that could not be restored to ERROR."""
        changes, error = self.changes_of_failure(row), self.error
        harmless = {*self.harmless, *(step.id for step in self.steps() if step.harmless)}
        lost = [self.not_undone[step] for step in self.not_undone if step not in harmless]
        if lost:
            changes = {**changes, 'vm_state': states.VmState.ERROR}
            move_records.change_reset(connection, row.uuid, changes)
            error = error if error is not None and self.events.shown(error) else lost[0]
        first = self.arguments.order.changes.get('task_state')
        self.progress.clear_task(connection, changes, tasks=(*self.tasks, first))
        self.progress.add_fault(connection, error)

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        """Return the columns of the server that an undo restores."""
        return {}

    # ---- a failure that is left as in nova ----

    def leave_at(self, step: saga.Step, error: Exception) -> saga.Leave | None:
        failure = nova_failures.find(self.kind, step.id, error, self.plain_arguments)
        return self.leaving.leave(failure)

    def record_left(self, connection: sa.Connection, row: rows.Row) -> saga.Data:
        """Record a failure that is left as in nova. Return further columns of the server."""
        return {}
