"""Detach an interface: unplug it, delete or release its port, remove it from the record.

The step that releases the port is the pivot: a port that was created for the server may be
deleted then.
"""

import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import resource_requests
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from nova_lite.db.cell import user_ports
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import port_resources

LOG = log.getLogger(__name__)

UNPLUG = saga.Result('detach-on-host', answers.Device)
AGAIN = 'unplug-from-new-guest'
EVENT = 'compute_detach_interface'
ALLOCATION = resource_requests.ALLOCATION
# The methods of computes that change the guest.
CALLS = ('attach_interface', 'detach_interface')


class Arguments(scopes.Arguments):
    """port_id: id of the port to detach"""

    port_id: str


class DetachInterface(move.Move[guest_devices.Began]):
    arguments: Arguments
    first = guest_devices.BEGIN
    kind = 'detach-interface'
    faults = False
    ways = (
        saga.Way(),
        saga.Way(
            data={guest_devices.BEGIN: {'host': '', 'vif': {'profile': {ALLOCATION: {'': ''}}}}}
        ),
    )

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.guest = guest_devices.GuestDevices(
            self.scope, self.events, self.first, UNPLUG, calls=CALLS, reconcile=self.reconcile
        )
        self.resources = port_resources.PortResources(self.scope, UNPLUG)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            self.guest.step(self.unplug, self.plug),
            places.NETWORK.step('release-port', self.release, pivot=True),
            *self.resources.releasing(self.began.vif if self.has_begun else None),
            places.SOURCE_RECORDS.step('forget-interface', self.forget),
            self.guest.unplugged(places.SOURCE_HOST, AGAIN),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> guest_devices.Began:
        row = self.scope.require_there(row)
        for vif in row.network_info or ():
            if vif['id'] == self.arguments.port_id:
                kept = vif['id'] in user_ports.of(row)
                found = {**vif, 'preserve_on_delete': kept}
                return self.guest.begin(connection, row, EVENT, vif=found)
        raise exception.PortNotAttached(instance_id=row.uuid, port_id=self.arguments.port_id)

    def unplug(self) -> asking.Reply:
        self.results[guest_devices.ACCEPTED] = True
        return self.guest.ask(self.scope.compute.detach_interface, port_id=self.arguments.port_id)

    def plug(self) -> asking.Reply:
        if not self.has_begun or self.scope.is_gone():
            return None
        return self.guest.undo(self.scope.compute.attach_interface, vif=self.began.vif)

    def reconcile(self, **options: typing.Any) -> saga.Pending | None:
        """Make the guest's port match the records. This is the duty of a failed `plug`."""
        vif = self.began.vif
        return None if vif is None else self.guest.reconcile_port(vif, **options)

    def release(self) -> None:
        """Delete the port, or release the user's. This is the pivot."""
        self.guest.current()
        vif = self.began.vif
        self.world.network.release_from(self.ctxt, self.instance_uuid, [vif] if vif else [])

    @scopes.transaction
    def forget(self, connection: sa.Connection) -> None:
        try:
            row = instances.lock(connection, self.instance_uuid)
        except exception.InstanceNotFound:
            LOG.info('Server %s and its interfaces were deleted', self.instance_uuid)
        else:
            port_id = self.arguments.port_id
            kept = [entry for entry in row.network_info or () if entry['id'] != port_id]
            network_info.store(connection, row.uuid, kept)
        self.events.end_all(connection)
