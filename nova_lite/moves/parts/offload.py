"""A shelved server leaves its host.

The pivot comes before the guest is destroyed, so all steps here only go forward. A deletion of
the server takes over: then a step removes only what it has created itself.

An administrator may reset the server's state. If that is before the guest is destroyed, the
server stays on its host and gets a fault. After that it is on no host, whatever its state is.
The same if the shelved image was deleted: the disk on the host is the only copy then.
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import destroying
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import shelving
from nova_lite.saga import failures
from nova_lite.saga import journal

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves

# Task states of sagas that offload a server.
TASKS = transitions.SHELVE.tasks
DESTROY, UNBIND = 'destroy-guest', 'unbind-ports'
# A note: the server left this move before its guest was destroyed, and the error.
LEFT: saga.Result[journal.Failure] = saga.Result('left-move', journal.Failure)


class Offload(part.Part):
    """The steps of a saga that began with `shelving.begin`."""

    move: 'moves.Move[steps.Began]'

    def steps(self) -> saga.Steps:
        """Return the steps that follow the pivot."""
        return (
            places.SOURCE_HOST.step(DESTROY, self._destroy, calls=('revert_resize',)),
            self._volumes.forward(),
            places.NETWORK.best_effort(UNBIND, self._unbind, clean=duties.no_bindings(self.move)),
            places.SOURCE_RECORDS.step(
                'record-no-host', self._record, title='record that the server is on no host'
            ),
            places.PLACEMENT.step('return-allocations', self._release),
            self._volumes.settling('drop-former-attachments'),
            places.SOURCE_RECORDS.step('record-end-of-offload', self._end),
        )

    _volumes = shelving.attachments(needless=lambda move: move.is_gone() or LEFT in move.results)

    def _destroy(self) -> asking.Reply:
        """Remove the guest, unless the server has left this move."""
        row = self.move.find_present()
        if row is None or LEFT in self.results:
            return None
        try:
            if destroying.BEGUN not in self.results:
                shelving.require_image(self.move.world.image, self.move.ctxt, row)
            waits = destroying.begin(self.move, row)
        except exception.StaleEpoch:
            raise
        except exception.NovaLiteError as error:
            if error.transient:
                raise
            self.results[LEFT] = failures.describe(error)
            return None
        return waits or shelving.remove(self.move, DESTROY)

    def _unbind(self) -> None:
        if LEFT not in self.results:
            neighbours.unbind_all(self.move)

    @part.transaction
    def _record(self, connection: sa.Connection) -> None:
        """Record that the server is on no host, whatever its state is by now."""
        move = self.move
        row = instances.find(connection, move.instance_uuid)
        if row is None or instances.is_gone(row) or LEFT in self.results:
            return
        if row.host != move.began.host:
            return  # it is on no host, or was evacuated
        changes = {
            'host': None,
            'node': None,
            'vm_state': str(states.VmState.SHELVED_OFFLOADED),
            'power_state': int(states.PowerState.SHUTDOWN),
        }
        if row.task_state not in move.tasks:
            changes['task_state'] = None
        instances.force(connection, row.uuid, changes, expect_task=(row.task_state,))
        move_records.change_devices(connection, self._volumes.reserved, None)

    @part.transaction
    def _end(self, connection: sa.Connection) -> None:
        """Clear the task and end the action.

        It ends with an error if the server has left it, or if a service refuses what duties retry.
        """
        error, given_up = self.results.get(LEFT), self.move.given_up
        if error is not None:
            self.move.add_fault(connection, error)
        self.move.clear_task(connection, {})
        refused = given_up.get(shelving.RESERVE) or given_up.get(UNBIND)
        self.move.events.end_all(connection, error or refused)

    def _release(self) -> None:
        """Delete its allocations, except on hosts that it was evacuated from."""
        move, row = self.move, self.move.find()
        if row is not None and row.deleted:
            row = None
        if row is None or row.host is None:
            keep = () if row is None else move.allocation.kept_on()
            move.world.placement.delete_allocations(
                move.ctxt, move.instance_uuid, force=not keep, keep=keep
            )
