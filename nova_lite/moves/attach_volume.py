"""Attach a volume: reserve, connect and plug it. A failure leaves the volume as it was.

The request records the block device, which reserves its name. The volume of a server that is on no
host is in use as well; the guest gets it when the server is unshelved.
"""

import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import reservation

BEGIN = saga.Result('record-block-device', guest_devices.Began)
RESERVE = saga.Result('reserve-volume', str)
PLUG = saga.Result('attach-on-host', answers.Device)
EVENT, LOCAL_EVENT = 'compute_attach_volume', 'api_attach_volume'
NAME_EVENT = 'compute_reserve_block_device_name'
# The methods of computes that change the guest.
CALLS = ('attach_volume', 'detach_volume')


class Arguments(scopes.Arguments):
    """device: uuid of the block device, which the order has created"""

    device: str
    volume_id: str


class AttachVolume(move.Move[guest_devices.Began]):
    arguments: Arguments
    kind = 'attach-volume'
    first = BEGIN
    named = guest_devices.VOLUMES
    faults = False
    ways = guest_devices.WAYS_OF_ATTACHING

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.guest = guest_devices.GuestDevices(
            self.scope, self.events, self.first, PLUG, calls=CALLS, reconcile=self.reconcile
        )
        self.reservation = reservation.Reservation(
            self.scope, self.guest, RESERVE, self.arguments.volume_id
        )

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            self.reservation.step(self._record_attachment),
            self.guest.step(self.plug, self.unplug),
            places.SOURCE_RECORDS.step('record-attachment', self.record, pivot=True),
            *self.guest.replugging(self.reconcile),
        )

    def begin(self) -> guest_devices.Began:
        self.reservation.require_free()
        return super().begin()

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> guest_devices.Began:
        row = self.scope.require_there(row)
        if row.host:
            self.events.end(connection, NAME_EVENT, row.host)
        return self.guest.begin(connection, row, EVENT, LOCAL_EVENT)

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        children.destroy_block_device(connection, self.arguments.device)

    def _record_attachment(self, attachment_id: str) -> None:
        self.scope.write(
            device_rows.change, self.arguments.device, {'attachment_id': attachment_id}
        )

    def plug(self) -> asking.Reply:
        if self.began.host is None:
            self.world.volume.complete_attachment(self.ctxt, self.reservation.id)
            return None
        device = self.guest.block_device(self.arguments.device)
        return self.guest.ask(self.scope.compute.attach_volume, block_device=device)

    def unplug(self) -> asking.Reply:
        return self.guest.undo(self.scope.compute.detach_volume, volume_id=self.arguments.volume_id)

    def reconcile(self, **options: typing.Any) -> saga.Pending | None:
        """Do the duty of a failed `unplug`. Until then the volume stays reserved."""
        return self.guest.reconcile_volumes(self.arguments.volume_id, **options)

    def record(self) -> None:
        """Record the connection of the volume. This is the pivot."""
        self.guest.finish(self._record)

    def _record(self, connection: sa.Connection, row: rows.Row) -> None:
        plugged = self.results.get(PLUG)
        info = plugged and plugged.connection_info
        device_rows.change(connection, self.arguments.device, {'connection_info': info})
