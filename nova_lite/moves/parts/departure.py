"""The guest of a resized server leaves its host, which keeps its disks for a revert.

Moves within a cell and between cells share these effects.
"""

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import progress_records
from nova_lite.states import nova_failures

Task = states.TaskState

# The step of a move within a cell. Hosts know its key, so all moves use it to restore a guest.
LEAVE = saga.Result('resize-at-source', answers.Departed, secret=True)


class Departure:
    """The source of a route. made: the step that creates the guest on the destination"""

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        progress: progress_records.Progress,
        made: saga.Result[answers.Guest],
    ) -> None:
        self.scope, self._route = scope, route
        self._progress, self._made = progress, made

    @scopes.transaction
    def note(self, connection: sa.Connection, former: str, event: str) -> asking.Known:
        """Record that the source works. Return its service.

        former: the event that ends; event: the next one
        """
        source, dest = self._route
        self._progress.note(
            connection,
            status=states.MigrationStatus.MIGRATING,
            changes={'task_state': str(Task.RESIZE_MIGRATING)},
            ended=(former, dest.host),
            started=(event, source.host),
            expect=(Task.RESIZE_PREP, Task.RESIZE_MIGRATING),
        )
        return asking.services_of(connection, [source.host])

    def take_back(self) -> asking.Reply:
        """Restore the source's guest after it left or was stopped, unless the server is gone."""
        scope, source = self.scope, self._route.source
        row = scope.find_present()
        if row is not None:
            # Keep the guest off if the server is being soft-deleted or was reset since, if the
            # guest may run on a destination that could not remove it, or if the failure is left as
            # in nova and nova leaves the guest off.
            was_on = scope.results[steps.MIGRATION].vm_state == states.VmState.ACTIVE
            alone = self._made not in scope.not_undone
            left = nova_failures.BY_NAME.get(scope.left_as or '')
            may_run = was_on and alone and (left is None or not left.guest_off)
            with asking.unless_deleted(scope):
                waits = asking.ask(
                    scope,
                    source.compute.finish_revert_resize,
                    **source.asked(LEAVE),
                    move=scope.uuid,
                    power_on=may_run and row.task_state in scope.tasks,
                )
                if isinstance(waits, saga.Pending):
                    return waits
        return self.discard(f'{LEAVE}/discard') if scope.is_gone() else None

    def discard(self, step: str) -> asking.Reply:
        """Remove the guest that the source keeps of a deleted server. step: step of the key"""
        source = self._route.source
        asked = source.asked(step)
        return asking.ask(self.scope, source.compute.discard_guest, **asked, move=self.scope.uuid)
