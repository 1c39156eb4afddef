"""A shelved server leaves its host.

The pivot comes before the guest is destroyed, so all steps here only go forward. A deletion of
the server takes over: then a step removes only what it has created itself.
"""

import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import shelving

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves

# Task states of sagas that offload a server.
TASKS = transitions.SHELVE.tasks
DESTROY = 'destroy-guest'


class Offload(part.Part):
    """The steps of a saga that began with `shelving.begin`."""

    move: 'moves.Move[steps.Began]'

    def steps(self) -> saga.Steps:
        """Return the steps that follow the pivot."""
        return (
            places.SOURCE_HOST.step(DESTROY, self._destroy, calls=('revert_resize',)),
            self._volumes.forward(),
            places.NETWORK.step('unbind-ports', lambda: neighbours.unbind_all(self.move)),
            places.SOURCE_RECORDS.step(
                'record-no-host', self._record, title='record that the server is on no host'
            ),
            places.PLACEMENT.step('return-allocations', self._release),
            self._volumes.settling('drop-former-attachments'),
            places.SOURCE_RECORDS.step('record-end-of-offload', self.move.give_back),
        )

    _volumes = shelving.attachments(needless=lambda move: move.is_gone())

    def _destroy(self) -> asking.Reply:
        return None if self.move.is_gone() else shelving.remove(self.move, DESTROY)

    @part.transaction
    def _record(self, connection: sa.Connection) -> None:
        """Record that the server is on no host."""
        move = self.move
        row = instances.find(connection, move.instance_uuid)
        if row is None or instances.is_gone(row) or row.host is None:
            return
        changes = {
            'host': None,
            'node': None,
            'vm_state': str(states.VmState.SHELVED_OFFLOADED),
            'power_state': int(states.PowerState.SHUTDOWN),
        }
        if move.change(connection, changes):
            move_records.change_devices(connection, self._volumes.reserved, None)

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
