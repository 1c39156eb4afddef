"""Detach a volume: unplug it from the guest, remove the block device, end the attachment.

A failure before the block device is removed leaves the volume attached. The attachment ends
last, so that no other server gets a volume to which this guest may still write.
"""

import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import detaching
from nova_lite.moves.parts import guest_devices

LOG = log.getLogger(__name__)
UNPLUG = saga.Result('detach-on-host', answers.Device)
END = 'end-attachment'
EVENT, LOCAL_EVENT = 'compute_detach_volume', 'api_detach_volume'
# The methods of computes that change the guest.
CALLS = ('attach_volume', 'detach_volume')


class Arguments(scopes.Arguments):
    """volume_id: id of the volume to detach

    lost: the volume service has ended the attachment, so the volume is not marked
    """

    VERSION = 2
    volume_id: str
    lost: bool = False


class DetachVolume(move.Move[guest_devices.Began]):
    arguments: Arguments
    first = guest_devices.BEGIN
    kind = 'detach-volume'
    named = guest_devices.VOLUMES
    faults = False

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.detaching = detaching.Detaching(self.scope, self.first, self.arguments.volume_id)
        self.guest = guest_devices.GuestDevices(
            self.scope, self.events, self.first, UNPLUG, calls=CALLS, reconcile=self.reconcile
        )

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            self.detaching.step(self.mark),
            self.guest.step(self.unplug, self.plug),
            places.SOURCE_RECORDS.step('forget-block-device', self.forget, pivot=True),
            self.guest.unplugged(places.VOLUMES, END, self.guest.end_attachment),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> guest_devices.Began:
        row = self.scope.require_there(row)
        found = self.guest.attached(connection, row, self.arguments.volume_id)
        return self.guest.begin(connection, row, EVENT, LOCAL_EVENT, **found)

    def mark(self) -> bool:
        """Mark the volume as detaching, unless the server has lost it."""
        if self.arguments.lost:
            self.results[detaching.MARKED] = False
        else:
            try:
                self.detaching.mark()
            except exception.VolumeNotFound as error:
                LOG.info('Detaching it from server %s: %s', self.instance_uuid, error)
                self.results[detaching.MARKED] = False
        self.results[guest_devices.ACCEPTED] = True
        return True

    def unplug(self) -> asking.Reply:
        return self.guest.ask(self.scope.compute.detach_volume, volume_id=self.arguments.volume_id)

    def plug(self) -> asking.Reply:
        if not self.has_begun or self.scope.is_gone():
            return None
        for device in self.scope.devices():
            if device.uuid == self.began.device:
                return self.guest.undo(self.scope.compute.attach_volume, block_device=device)
        return None

    def reconcile(self, **options: typing.Any) -> saga.Pending | None:
        """Make the guest's volume match the records. This is the duty of a failed `plug`."""
        return self.guest.reconcile_volumes(self.arguments.volume_id, **options)

    def forget(self) -> None:
        """Remove the block device. This is the pivot."""
        self.scope.write(self._forget)
        self.detaching.forget()

    def _forget(self, connection: sa.Connection) -> None:
        children.destroy_block_device(connection, self.guest.device)
        self.events.end_all(connection)
