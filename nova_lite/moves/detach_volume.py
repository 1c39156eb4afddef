"""Detach a volume: unplugged from the guest, then forgotten, then free again.

What fails before the volume is forgotten leaves it attached. The attachment ends last,
so that nobody else gets a volume that a guest may still write to.
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import detaching
from nova_lite.moves.parts import guest_devices

UNPLUG = 'detach on the host'
END = 'end the attachment'
EVENT, LOCAL_EVENT = 'compute_detach_volume', 'api_detach_volume'


class DetachVolume(move.Move):
    """arguments: 'volume_id'"""

    kind = 'detach-volume'
    named = guest_devices.VOLUMES
    faults = False

    def steps(self):
        return (
            steps.begin(self),
            self.detaching.step(self.mark, self.unmark),
            self.guest.step(self.unplug, self.plug, 'attach_volume', 'detach_volume'),
            places.SOURCE_RECORDS.step('forget the block device', self.forget, pivot=True),
            places.VOLUMES.patient(
                END,
                self.end_attachment,
                clean=saga.Clean(lambda: self.end_attachment(forward=False), alone=True),
                calls=('attach_volume', 'detach_volume'),
            ),
        )

    @property
    def guest(self):
        """The guest's devices."""
        return guest_devices.GuestDevices(self, UNPLUG, self.settle)

    @property
    def detaching(self):
        """The mark of the volume."""
        return detaching.Detaching(self, self.arguments.get('volume_id'))

    def begun(self, connection, row):
        self.require_there(row)
        device = device_rows.find(connection, row.uuid, self.arguments['volume_id'])
        if device is None:
            raise exception.VolumeNotAttached(
                instance_id=row.uuid, volume_id=self.arguments['volume_id']
            )
        return self.guest.begin(
            connection,
            row,
            EVENT,
            LOCAL_EVENT,
            device=device.uuid,
            attachment_id=device.attachment_id,
        )

    # ---- while it is attached ----

    def mark(self):
        """A volume of a server that is on no host is reserved only: nothing to mark."""
        if self.began['host'] is not None:
            self.detaching.mark()
        self.data[guest_devices.ACCEPTED] = True
        return True

    def unmark(self):
        if self.first in self.data and self.began['host'] is not None:
            self.detaching.unmark()

    def unplug(self):
        """detach_volume."""
        return self.guest.ask(self.compute.detach_volume, volume_id=self.arguments['volume_id'])

    def plug(self):
        """Undo of `unplug`."""
        if self.first not in self.data or self.is_gone():
            return None
        for device in self.devices():
            if device.uuid == self.began['device']:
                return self.guest.undo(self.compute.attach_volume, block_device=device)
        return None

    def settle(self, **options):
        """Have the guest as it is on record. The duty when `plug` failed."""
        return self.guest.settle_volumes(self.arguments['volume_id'], **options)

    def forget(self):
        """From here on the volume is not the server's."""
        self.write(self._forget)
        self.detaching.forget()

    def _forget(self, connection):
        children.destroy_block_device(connection, self.began['device'])
        self.end_events(connection)

    # ---- only forward ----

    def end_attachment(self, forward=True):
        waits = self.guest.settle_remade(forward=forward, running=END)
        if waits is not None:
            return waits
        if self.began['attachment_id']:
            self.world.volume.delete_attachment(self.ctxt, self.began['attachment_id'])
        return None
