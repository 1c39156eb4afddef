"""Attach a volume: reserved, connected and plugged in, or left as it was.

The block device is recorded with the request, so that its name is taken; a server that
is on no host gets the volume when it is unshelved.
"""

from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import reservation

RESERVE = 'reserve the volume'
PLUG = 'attach on the host'
EVENT, LOCAL_EVENT = 'compute_attach_volume', 'api_attach_volume'
NAME_EVENT = 'compute_reserve_block_device_name'


class AttachVolume(move.Move):
    """arguments: 'device': uuid of the block device, which is in the order; 'volume_id'"""

    kind = 'attach-volume'
    first = 'record the block device'
    named = guest_devices.VOLUMES
    faults = False
    ways = guest_devices.WAYS_OF_ATTACHING

    def steps(self):
        return (
            steps.begin(self),
            self.reservation.step(self._record_attachment),
            self.guest.step(self.plug, self.unplug, 'attach_volume', 'detach_volume'),
            places.SOURCE_RECORDS.step('record the attachment', self.record, pivot=True),
            *self.guest.replugging(self.settle, 'attach_volume', 'detach_volume'),
        )

    @property
    def guest(self):
        """The guest's devices."""
        return guest_devices.GuestDevices(self, PLUG, self.settle)

    @property
    def reservation(self):
        """The attachment, before the guest has the volume."""
        return reservation.Reservation(self, RESERVE, self.arguments.get('volume_id'), self.guest)

    # ---- records ----

    def begin(self):
        self.reservation.require_free()
        return super().begin()

    def begun(self, connection, row):
        self.require_there(row)
        if row.host:
            self.end_event(connection, NAME_EVENT, row.host)
        return self.guest.begin(connection, row, EVENT, LOCAL_EVENT)

    def undone(self, connection, row):
        children.destroy_block_device(connection, self.arguments['device'])

    def device(self):
        """The block device; raises VolumeNotAttached when the server was deleted."""
        for found in self.devices():
            if found.uuid == self.arguments['device']:
                return found
        raise device_rows.gone(self.arguments['device'])

    def _record_attachment(self, attachment_id):
        self.write(device_rows.change, self.arguments['device'], {'attachment_id': attachment_id})

    # ---- the host ----

    def plug(self):
        """attach_volume. Returns {'connection_info'}."""
        return self.guest.ask(self.compute.attach_volume, block_device=self.device())

    def unplug(self):
        return self.guest.undo(self.compute.detach_volume, volume_id=self.arguments['volume_id'])

    def settle(self, **options):
        """The duty when `unplug` failed: only then the volume is free again."""
        return self.guest.settle_volumes(self.arguments['volume_id'], **options)

    def record(self):
        """From here on the volume is the server's."""
        self.guest.finish(self._record)

    def _record(self, connection, row):
        info = (self.data.get(PLUG) or {}).get('connection_info')
        device_rows.change(connection, self.arguments['device'], {'connection_info': info})
