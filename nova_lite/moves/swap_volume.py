"""Swap: replace an attached volume by another volume, and detach the former volume.

The volume service requests this after it has copied a volume to another place. It then
decides which of the two ids the volume keeps.
"""

import contextlib
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import detaching
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import reservation

LOG = log.getLogger(__name__)
RESERVE = saga.Result('reserve-other-volume', str)
SWAP = saga.Result('swap-on-host', answers.Device)
TELL = saga.Result('complete-volume-migration', str)
KEPT = 'record-kept-volume-id'
EVENT = 'compute_swap_volume'
# The migration status of the volume that Cinder removes after a migration.
DELETING = 'deleting'
# The methods of computes that change the guest.
CALLS = ('attach_volume', 'detach_volume', 'swap_volume')


class Arguments(scopes.Arguments):
    """old_volume_id: id of the attached volume; volume_id: id of its replacement"""

    old_volume_id: str
    volume_id: str


class SwapVolume(move.Move[guest_devices.Began]):
    arguments: Arguments
    first = guest_devices.BEGIN
    kind = 'swap-volume'
    named = guest_devices.VOLUMES
    faults = False

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope = self.scope
        self.detaching = detaching.Detaching(scope, self.first, self._old)
        self.guest = guest_devices.GuestDevices(
            scope, self.events, self.first, SWAP, calls=CALLS, reconcile=self.reconcile
        )
        self.reservation = reservation.Reservation(scope, self.guest, RESERVE, self._new)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            self.detaching.step(undo=self.give_back),
            self.reservation.step(),
            self.guest.step(self.swap, self.swap_back),
            places.SOURCE_RECORDS.step('record-other-volume', self.record, pivot=True),
            self.guest.unplugged(places.VOLUMES, TELL, self.tell, late=self.tell_late),
            places.VOLUMES.best_effort(
                'end-attachment',
                self.guest.end_attachment,
                clean=saga.Clean(self.guest.end_attachment),
            ),
            places.SOURCE_RECORDS.best_effort(
                KEPT,
                lambda: self.rename(forward=True),
                clean=saga.Clean(self.rename, alone=True),
                calls=('attach_volume', 'detach_volume'),
                title='record the id that the volume keeps',
            ),
        )

    @property
    def _old(self) -> str:
        return self.arguments.old_volume_id

    @property
    def _new(self) -> str:
        return self.arguments.volume_id

    def begin(self) -> guest_devices.Began:
        self.reservation.require_free()
        return super().begin()

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> guest_devices.Began:
        row = self.scope.require_there(row)
        found = self.guest.attached(connection, row, self._old)
        if device_rows.find(connection, row.uuid, self._new) is not None:
            # Another request, for which this one waited, has attached the volume.
            raise device_rows.already_attached(self._new)
        return self.guest.begin(connection, row, EVENT, **found)

    def swap(self) -> asking.Reply:
        device = self.guest.block_device(self.guest.device)
        device.volume_id, device.attachment_id = self._new, self.reservation.id
        device.connection_info = None
        return self.guest.ask(
            self.scope.compute.swap_volume, old_volume_id=self._old, block_device=device
        )

    def swap_back(self) -> asking.Reply:
        if self.scope.is_gone():
            return self.guest.undo(self.scope.compute.detach_volume, volume_id=self._new)
        device = self.guest.block_device(self.guest.device)
        return self.guest.undo(
            self.scope.compute.swap_volume, old_volume_id=self._new, block_device=device
        )

    def give_back(self) -> None:
        """Unmark the volume, and report to Cinder that it is not moved."""
        self.detaching.unmark()
        if self.has_begun and not self.guest.keeps(neighbours.VOLUMES, self._new):
            self._report_failure()

    def _report_failure(self) -> None:
        """Report to Cinder that no guest has the new volume, which Cinder may then delete."""
        # Without a migration there is nothing to end; after an earlier report it has ended.
        with contextlib.suppress(exception.VolumeNotFound, exception.VolumeNotUsable):
            self.world.volume.complete_migration(self.ctxt, self._old, self._new, error=True)

    def reconcile(self, **options: typing.Any) -> saga.Pending | None:
        """Make the guest's volumes match the records. This is the duty of a failed `swap_back`.

        The duty also makes the report of `give_back`, which the undo of the mark had to omit.
        """
        return self.guest.reconcile_volumes(
            self._new, self._old, freed=self._report_failure, **options
        )

    def record(self) -> None:
        """Record the other volume. This is the pivot."""
        self.scope.write(self._record)
        self.detaching.forget()

    def _record(self, connection: sa.Connection) -> None:
        device_rows.change(
            connection,
            self.guest.device,
            {
                'source_type': 'volume',
                'snapshot_id': None,
                'volume_id': self._new,
                'attachment_id': self.reservation.id,
                'connection_info': self.results[SWAP].connection_info,
            },
        )
        self.events.end_all(connection)

    def tell(self) -> str:
        """Return the id that the volume keeps.

        Cinder refuses to complete a migration that it has not begun, because an administrator has
        requested the swap. If a volume was deleted with the server, there is no migration to
        complete.
        """
        try:
            return self.world.volume.complete_migration(self.ctxt, self._old, self._new)
        except (exception.VolumeNotFound, exception.VolumeNotUsable) as error:
            LOG.warning(
                'The swap of server %s completes no migration: %s', self.instance_uuid, error
            )
            return self._old if self._has_ended() else self._new

    def _has_ended(self) -> bool:
        """Return whether the migration is complete: an earlier answer was lost.

        In that case Cinder has deleted the new volume.
        """
        try:
            other = self.world.volume.get(self.ctxt, self._new)
        except exception.VolumeNotFound:
            return True
        return other.get('migration_status') == DELETING

    def tell_late(self) -> saga.Pending | None:
        """Report the swap to Cinder after the saga's end."""
        return self._rename(self.tell(), running=TELL)

    def rename(self, **options: typing.Any) -> saga.Pending | None:
        """Record the id that the volume keeps. options: of `reconcile`"""
        return self._rename(self.results.get(TELL) or self._new, running=KEPT, **options)

    def _rename(self, kept: str, **options: typing.Any) -> saga.Pending | None:
        """Record the id by which Cinder knows the volume, and give it to the guest's device.

        Return a Pending while the host works. A device whose volume was detached or swapped since
        is not changed.
        """
        named = [each.volume_id for each in self.scope.devices() if each.uuid == self.began.device]
        if kept == self._new or named not in ([self._new], [kept]):
            return None
        self.scope.write(children.update_block_device, self.guest.device, {'volume_id': kept})
        return self.reconcile(**options)
