"""Swap: another volume takes the place of an attached one, which is detached.

Asked for by the volume service, when it has copied a volume to another place; it then
says which of the two names the volume keeps.
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import attach_volume
from nova_lite.moves import detach_volume
from nova_lite.moves import devices
from nova_lite.moves import duties
from nova_lite.moves import places
from nova_lite.moves import steps

BEGIN = 'record the request'
RESERVE = 'reserve the other volume'
SWAP = 'swap on the host'
TELL = 'tell the volume service'


class SwapVolume(devices.DeviceSaga):
    """arguments: 'old_volume_id', 'volume_id'"""

    kind = 'swap-volume'
    event = 'compute_swap_volume'

    def steps(self):
        return (
            steps.begin(self, BEGIN),
            detach_volume.marking(self),
            attach_volume.reserving(self, RESERVE),
            self.at_guest(
                SWAP, self.swap, self.swap_back, 'attach_volume', 'detach_volume', 'swap_volume'
            ),
            saga.Step('record the other volume', self.record, pivot=True, at=places.SOURCE_RECORDS),
            steps.patient(
                TELL,
                self.tell,
                clean=saga.Clean(self.tell_late, alone=True),
                at=places.VOLUMES,
                calls=('attach_volume', 'detach_volume'),
            ),
            steps.patient(
                'end the attachment',
                self.end_attachment,
                clean=duties.own(self.end_attachment),
                at=places.VOLUMES,
            ),
            saga.Step('record the name it keeps', self.rename, at=places.SOURCE_RECORDS),
        )

    @property
    def _old(self):
        return self.arguments['old_volume_id']

    @property
    def _new(self):
        return self.arguments['volume_id']

    def begin(self):
        self.require_not_held(self._new)
        return super().begin()

    def found(self, connection, row):
        device = device_rows.find(connection, row.uuid, self._old)
        if device is None:
            raise exception.VolumeNotAttached(instance_id=row.uuid, volume_id=self._old)
        if device_rows.find(connection, row.uuid, self._new) is not None:
            # Attached by what the request has waited for.
            raise device_rows.already_attached(self._new)
        return {'device': device.uuid, 'attachment_id': device.attachment_id}

    def undone(self, connection, row):
        """Nothing but the event was recorded."""

    def device(self):
        """The block device as it is on record."""
        for found in self.devices():
            if found.uuid == self.began['device']:
                return found
        raise device_rows.gone(self.began['device'])

    # ---- both volumes ----

    def mark(self):
        detach_volume.mark_detaching(self, self._old)

    def unmark(self):
        detach_volume.unmark_detaching(self, self._old)

    def reserve(self):
        """Returns the id of the new attachment."""
        found = attach_volume.reserve(self, self._new)
        self.data[devices.ACCEPTED] = True
        return found

    def unreserve(self):
        """Undo of `reserve`, unless the guest may still have the other volume."""
        if not attach_volume.hold(self, SWAP, RESERVE):
            attach_volume.unreserve(self, self._new)

    # ---- the host ----

    def swap(self):
        """swap_volume. Returns {'connection_info', 'detached'}."""
        device = self.device()
        device.volume_id, device.attachment_id = self._new, self.data[RESERVE]
        device.connection_info = None
        return self.ask_host(
            self.compute.swap_volume, SWAP, old_volume_id=self._old, block_device=device
        )

    def swap_back(self):
        if self.is_gone():
            return self.undo_at_host(self.compute.detach_volume, SWAP, volume_id=self._new)
        return self.undo_at_host(
            self.compute.swap_volume, SWAP, old_volume_id=self._new, block_device=self.device()
        )

    def settle(self, **options):
        """Have the guest as it is on record.

        The duty when `swap_back` failed: only then the other volume is free again.
        """
        return self.settle_volumes(SWAP, self._new, self._old, **options)

    # ---- only forward ----

    def record(self):
        """From here on the server has the other volume."""
        self.write(self._record)
        self.data.pop(detach_volume.MARKED, None)

    def _record(self, connection):
        device_rows.change(
            connection,
            self.began['device'],
            {
                'source_type': 'volume',
                'snapshot_id': None,
                'volume_id': self._new,
                'attachment_id': self.data[RESERVE],
                'connection_info': self.data[SWAP]['connection_info'],
            },
        )
        self.end_events(connection)

    def tell(self, forward=True):
        """Returns the id that the volume keeps; a Pending while a guest made again is settled.

        Either volume may be deleted with the server: then no migration can be completed.
        """
        waits = self.settle_remade(SWAP, forward=forward, running=TELL)
        if waits is not None:
            return waits
        try:
            return self.world.volume.complete_migration(self.ctxt, self._old, self._new)
        except exception.VolumeNotFound:
            return self._new

    def tell_late(self):
        """As `tell`, and the name that the volume keeps, unless it was detached since."""
        kept = self.tell(forward=False)
        if isinstance(kept, saga.Pending):
            return kept
        named = [each.volume_id for each in self.devices() if each.uuid == self.began['device']]
        if kept != self._new and named == [self._new]:
            self.write(children.update_block_device, self.began['device'], {'volume_id': kept})
        return None

    def end_attachment(self):
        if self.began['attachment_id']:
            self.world.volume.delete_attachment(self.ctxt, self.began['attachment_id'])

    def rename(self):
        kept = self.data.get(TELL, self._new)
        if kept != self._new:
            self.write(children.update_block_device, self.began['device'], {'volume_id': kept})
