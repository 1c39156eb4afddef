"""Attach a volume: reserved, connected and plugged in, or left as it was.

The block device is recorded with the request, so that its name is taken; a server that
is on no host gets the volume when it is unshelved.
"""

from nova_lite import saga
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import devices
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import steps

BEGIN = 'record the block device'
RESERVE = 'reserve the volume'
PLUG = 'attach on the host'
NAME_EVENT = 'compute_reserve_block_device_name'


class AttachVolume(devices.DeviceSaga):
    """arguments: 'device': uuid of the block device, which is in the order; 'volume_id'"""

    kind = 'attach-volume'
    ways = devices.WAYS_OF_ATTACHING
    event = 'compute_attach_volume'
    local_event = 'api_attach_volume'

    def steps(self):
        return (
            steps.begin(self, BEGIN),
            reserving(self, RESERVE),
            self.at_guest(PLUG, self.plug, self.unplug, 'attach_volume', 'detach_volume'),
            saga.Step('record the attachment', self.record, pivot=True, at=places.SOURCE_RECORDS),
            *self.replugging(self.settle, 'attach_volume', 'detach_volume'),
        )

    # ---- records ----

    def begin(self):
        self.require_not_held(self.arguments['volume_id'])
        return super().begin()

    def found(self, connection, row):
        if row.host:
            actions.finish_event(
                connection, row.uuid, self.ctxt.request_id, NAME_EVENT, host=row.host
            )
        return {}

    def undone(self, connection, row):
        children.destroy_block_device(connection, self.arguments['device'])

    def device(self):
        """The block device; raises VolumeNotAttached when the server was deleted."""
        for found in self.devices():
            if found.uuid == self.arguments['device']:
                return found
        raise device_rows.gone(self.arguments['device'])

    # ---- the volume ----

    def reserve(self):
        """Returns the id of the attachment."""
        found = reserve(self, self.arguments['volume_id'])
        self.write(device_rows.change, self.arguments['device'], {'attachment_id': found})
        self.data[devices.ACCEPTED] = True
        return found

    def unreserve(self):
        """Undo of `reserve`, unless the guest may still have the volume."""
        if not hold(self, PLUG, RESERVE):
            unreserve(self, self.arguments['volume_id'])

    # ---- the host ----

    def plug(self):
        """attach_volume. Returns {'connection_info'}."""
        return self.ask_host(self.compute.attach_volume, PLUG, block_device=self.device())

    def unplug(self):
        return self.undo_at_host(
            self.compute.detach_volume, PLUG, volume_id=self.arguments['volume_id']
        )

    def settle(self, **options):
        """The duty when `unplug` failed: only then the volume is free again."""
        return self.settle_volumes(PLUG, self.arguments['volume_id'], **options)

    def record(self):
        """From here on the volume is the server's."""
        self.finish(self._record)

    def _record(self, connection, row):
        info = (self.data.get(PLUG) or {}).get('connection_info')
        device_rows.change(connection, self.arguments['device'], {'connection_info': info})


def reserving(saga_, name):
    """The step that makes an attachment of a volume that the server is to have."""
    clean = duties.foreign_attachments(saga_)
    return saga.Step(name, saga_.reserve, undo=saga_.unreserve, clean=clean, at=places.VOLUMES)


def reserve(saga_, volume_id):
    """Make an attachment of a volume, or find the one made before; its id."""
    world, ctxt = saga_.world, saga_.ctxt
    if saga_.repeated:
        for attachment in world.volume.list_attachments(ctxt, saga_.instance_uuid):
            if attachment['volume_id'] == volume_id:
                return attachment['id']
    return world.volume.create_attachment(ctxt, volume_id, saga_.instance_uuid)['id']


def hold(saga_, step, reserved):
    """Hold the reservation of a volume if `step` was not undone; return whether it was not.

    reserved: the step that made the attachment
    """
    if not saga_.keeps(step, neighbours.VOLUMES, saga_.arguments['volume_id']):
        return False
    return saga_.keeps(step, neighbours.ATTACHMENTS, saga_.data[reserved])


def unreserve(saga_, volume_id):
    """Undo of `reserve`: a volume that is not the server's has no attachment of it."""
    volume, ctxt = saga_.world.volume, saga_.ctxt
    for attachment in volume.list_attachments(ctxt, saga_.instance_uuid):
        if attachment['volume_id'] == volume_id:
            volume.delete_attachment(ctxt, attachment['id'])
