"""Detach a volume: unplugged from the guest, then forgotten, then free again.

What fails before the volume is forgotten leaves it attached. The attachment ends last,
so that nobody else gets a volume that a guest may still write to.
"""

import contextlib

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import devices
from nova_lite.moves import places
from nova_lite.moves import steps

BEGIN = 'record the request'
MARK = 'mark the volume as detaching'
UNPLUG = 'detach on the host'
END = 'end the attachment'
DETACHING = 'detaching'
# Key of Saga.data until the pivot: the volume that the saga has marked; False when that was
# refused; there is none while nobody knows.
MARKED = 'marked'


class DetachVolume(devices.DeviceSaga):
    """arguments: 'volume_id'"""

    kind = 'detach-volume'
    event = 'compute_detach_volume'
    local_event = 'api_detach_volume'

    def steps(self):
        return (
            steps.begin(self, BEGIN),
            marking(self),
            self.at_guest(UNPLUG, self.unplug, self.plug, 'attach_volume', 'detach_volume'),
            saga.Step('forget the block device', self.forget, pivot=True, at=places.SOURCE_RECORDS),
            steps.patient(
                END,
                self.end_attachment,
                clean=saga.Clean(lambda: self.end_attachment(forward=False), alone=True),
                at=places.VOLUMES,
                calls=('attach_volume', 'detach_volume'),
            ),
        )

    def found(self, connection, row):
        device = device_rows.find(connection, row.uuid, self.arguments['volume_id'])
        if device is None:
            raise exception.VolumeNotAttached(
                instance_id=row.uuid, volume_id=self.arguments['volume_id']
            )
        return {'device': device.uuid, 'attachment_id': device.attachment_id}

    def undone(self, connection, row):
        """Nothing but the event was recorded."""

    # ---- while it is attached ----

    def mark(self):
        """A volume of a server that is on no host is reserved only: nothing to mark."""
        if self.began['host'] is not None:
            mark_detaching(self, self.arguments['volume_id'])
        self.data[devices.ACCEPTED] = True
        return True

    def unmark(self):
        if BEGIN in self.data and self.began['host'] is not None:
            unmark_detaching(self, self.arguments['volume_id'])

    def unplug(self):
        """detach_volume."""
        return self.ask_host(
            self.compute.detach_volume, UNPLUG, volume_id=self.arguments['volume_id']
        )

    def plug(self):
        """Undo of `unplug`."""
        if BEGIN not in self.data or self.is_gone():
            return None
        for device in self.devices():
            if device.uuid == self.began['device']:
                return self.undo_at_host(self.compute.attach_volume, UNPLUG, block_device=device)
        return None

    def settle(self, **options):
        """Have the guest as it is on record. The duty when `plug` failed."""
        return self.settle_volumes(UNPLUG, self.arguments['volume_id'], **options)

    def forget(self):
        """From here on the volume is not the server's."""
        self.write(self._forget)
        self.data.pop(MARKED, None)

    def _forget(self, connection):
        children.destroy_block_device(connection, self.began['device'])
        self.end_events(connection)

    # ---- only forward ----

    def end_attachment(self, forward=True):
        waits = self.settle_remade(UNPLUG, forward=forward, running=END)
        if waits is not None:
            return waits
        if self.began['attachment_id']:
            self.world.volume.delete_attachment(self.ctxt, self.began['attachment_id'])
        return None


def marking(saga_):
    """The step that marks the volume which the server is to lose."""
    clean = saga.Clean(saga_.unmark, alone=True)
    return saga.Step(MARK, saga_.mark, undo=saga_.unmark, clean=clean, at=places.VOLUMES)


def mark_detaching(saga_, volume_id):
    """Mark a volume as about to be detached; raises VolumeNotUsable.

    There is one mark, whichever of its attachments is meant, and it names nobody.
    """
    if not (saga_.repeated and _may_be_marked(saga_, volume_id)):
        try:
            saga_.world.volume.begin_detaching(saga_.ctxt, volume_id)
        except exception.VolumeNotUsable:
            saga_.data[MARKED] = False
            raise
    saga_.data[MARKED] = volume_id


def unmark_detaching(saga_, volume_id):
    """Undo of `mark_detaching`: what is another's mark stays."""
    if saga_.data.get(MARKED) is False or _is_anothers(saga_, volume_id):
        return
    # A volume may be deleted with its server while the saga runs.
    with contextlib.suppress(exception.VolumeNotFound):
        saga_.world.volume.roll_detaching(saga_.ctxt, volume_id)
    saga_.data.pop(MARKED, None)


def _may_be_marked(saga_, volume_id):
    """Whether there is a mark that may be this saga's, of which it has not heard."""
    status = saga_.world.volume.get(saga_.ctxt, volume_id)['status']
    return status == DETACHING and not _is_anothers(saga_, volume_id)


def _is_anothers(saga_, volume_id):
    """Whether the volume is marked by another saga, which has not got past its pivot."""
    others = saga_.world.api_db.read(sagas.every, active=True)
    return any(other.data.get(MARKED) == volume_id for other in others if other.uuid != saga_.uuid)
