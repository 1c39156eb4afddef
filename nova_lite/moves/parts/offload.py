"""A shelved server leaves its host.

The pivot comes before the guest is destroyed, so all steps of this part only go forward. A deletion
of the server takes over: then a step removes only the objects that it has created itself.

An administrator may reset the server's state. If that happens before the guest is destroyed, the
server stays on its host and gets a fault. Afterwards it is on no host: a server that was set to
ACTIVE is shelved again, and one in ERROR stays so. If the server is soft-deleted, it is deleted,
because there is nothing to restore on its host. If a service has refused its deletion, it stays in
ERROR. The server also stays on its host if the shelved image was deleted, because the disk on the
host is the only copy.
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import destroying
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import allocation as allocations
from nova_lite.moves.parts import progress_records
from nova_lite.moves.parts import shelving
from nova_lite.saga import failures
from nova_lite.saga import journal
from nova_lite.states import transitions

# Task states of sagas that offload a server.
TASKS = transitions.SHELVE.tasks
DESTROY, UNBIND = 'destroy-guest', 'unbind-ports'
# A note: the error with which the server has left this move before its guest was destroyed.
LEFT: saga.Result[journal.Failure] = saga.Result('left-move', journal.Failure)


class Offload:
    """The steps of a saga that began with `shelving.begin`.

    host: the host that the server leaves
    """

    def __init__(
        self, scope: scopes.Scope, host: scopes.End, progress: progress_records.Progress
    ) -> None:
        self.scope, self._host, self._progress = scope, host, progress
        self._volumes = shelving.attachments(
            scope, needless=lambda: scope.is_gone() or LEFT in scope.results
        )

    def steps(self) -> saga.Steps:
        """Return the steps that follow the pivot."""
        return (
            places.SOURCE_HOST.step(DESTROY, self._destroy, calls=('revert_resize',)),
            self._volumes.forward(),
            places.NETWORK.best_effort(UNBIND, self._unbind, clean=duties.no_bindings(self.scope)),
            places.SOURCE_RECORDS.step(
                'record-no-host', self._leave, title='record that the server is on no host'
            ),
            places.PLACEMENT.step('return-allocations', self._release),
            self._volumes.settling('drop-former-attachments'),
            places.SOURCE_RECORDS.step('record-end-of-offload', self._end),
        )

    def _destroy(self) -> asking.Reply:
        """Remove the guest, unless the server has left this move."""
        scope = self.scope
        row = scope.find_present()
        if row is None or LEFT in scope.results:
            return None
        try:
            if destroying.BEGUN not in scope.results:
                shelving.require_image(scope.world.image, scope.ctxt, row)
            waits = destroying.begin(scope, row)
        except exception.StaleEpoch:
            raise
        except exception.NovaLiteError as error:
            if error.transient:
                raise
            scope.results[LEFT] = failures.describe(error)
            return None
        return waits or shelving.remove(scope, self._host, DESTROY)

    def _unbind(self) -> None:
        if LEFT not in self.scope.results:
            neighbours.unbind_all(self.scope)

    def _leave(self) -> None:
        if not self._record():
            self.scope.here.delete()

    @scopes.transaction
    def _record(self, connection: sa.Connection) -> bool:
        """Record that the server is on no host. Return False if it is deleted for good instead."""
        scope = self.scope
        row = instances.find(connection, scope.instance_uuid)
        if row is None or instances.is_gone(row) or LEFT in scope.results:
            return True
        if row.host != self._host.host:
            return True  # it is on no host, or was evacuated
        if row.deleted_at is not None:
            # In this transaction, or a restoration might be accepted before the deletion.
            final = {'task_state': str(states.TaskState.DELETING)}
            instances.force(connection, row.uuid, final, expect_task=(row.task_state,))
            return False
        off = int(states.PowerState.SHUTDOWN)
        changes: dict[str, typing.Any] = {'host': None, 'node': None, 'power_state': off}
        if not self._has_failed_deletion(connection, row):
            changes['vm_state'] = str(states.VmState.SHELVED_OFFLOADED)
        if row.task_state not in scope.tasks:
            changes['task_state'] = None
        instances.force(connection, row.uuid, changes, expect_task=(row.task_state,))
        move_records.change_devices(connection, self._volumes.reserved, None)
        return True

    def _has_failed_deletion(self, connection: sa.Connection, row: rows.Row) -> bool:
        """Return whether the server was to be deleted meanwhile, and a service refused that.

        Then the user is shown ERROR and the fault, and has to delete the server again.
        """
        scope = self.scope
        return row.vm_state == states.VmState.ERROR and action_lists.is_followed_by(
            connection, row.uuid, scope.ctxt.request_id, transitions.DELETE.verb
        )

    @scopes.transaction
    @scopes.ending
    def _end(self, connection: sa.Connection) -> None:
        """Clear the task and end the action.

        The action ends with an error if the server has left the move, or if a service refuses an
        effect that a duty retries.
        """
        error, given_up = self.scope.results.get(LEFT), self.scope.given_up
        if error is not None:
            self._progress.add_fault(connection, error)
        self._progress.clear_task(connection, {})
        move_records.shelve_again(connection, self.scope.instance_uuid)
        refused = given_up.get(shelving.RESERVE) or given_up.get(UNBIND)
        self._progress.events.end_all(connection, error or refused)

    def _release(self) -> None:
        """Delete the server's allocations, except on hosts from which it was evacuated."""
        scope, row = self.scope, self.scope.find()
        if row is not None and row.deleted:
            row = None
        if row is None or row.host is None:
            keep = () if row is None else allocations.Allocation(scope).kept_on()
            scope.world.placement.delete_allocations(
                scope.ctxt, scope.instance_uuid, force=not keep, keep=keep
            )
