"""Attach an interface: create a port or use an existing port, bind it to the host and plug it.

A failure is undone: a port that was created is deleted, a port of the user is released.
"""

import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from nova_lite.db.cell import user_ports
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import guest_devices
from nova_lite.moves.parts import port_resources
from nova_lite.objects import port_devices

BIND = saga.Result('bind-port', saga.Data)
PLUG = 'attach-on-host'
EVENT = 'compute_attach_interface'
# The methods of computes that change the guest.
CALLS = ('attach_interface', 'detach_interface')


class Arguments(scopes.Arguments):
    """request: {'network_id', 'fixed_ip', 'port_id', 'tag'}, with 'resource_request' if any"""

    request: saga.Data


class AttachInterface(move.Move[guest_devices.Began]):
    arguments: Arguments
    first = guest_devices.BEGIN
    kind = 'attach-interface'
    faults = False
    ways = (
        *guest_devices.WAYS_OF_ATTACHING,
        *(
            saga.Way({'request': {'port_id': '', resource_requests.REQUEST: {}}}, way.data)
            for way in guest_devices.WAYS_OF_ATTACHING
        ),
    )

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.guest = guest_devices.GuestDevices(
            self.scope, self.events, self.first, PLUG, calls=CALLS, reconcile=self.reconcile
        )
        self.resources = port_resources.PortResources(self.scope, PLUG)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            *self.resources.claiming(self.asking_port, self.require_free),
            places.NETWORK.step(
                BIND,
                self.bind,
                self.release,
                clean=duties.foreign_ports(self.scope, self.arguments.request),
            ),
            self.guest.step(self.plug, self.unplug),
            places.SOURCE_RECORDS.step('record-interface', self.record, pivot=True),
            *self.guest.replugging(self.replug),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> guest_devices.Began:
        row = self.scope.require_there(row)
        ports = neighbours.port_ids(row.network_info)
        return self.guest.begin(connection, row, EVENT, ports=ports)

    @property
    def known(self) -> list[str]:
        """Return the ports that the server had before, or that its guest may have."""
        held = neighbours.held(self.scope, neighbours.PORTS)
        return [*self.began.ports, *sorted(held)]

    @property
    def given(self) -> str | None:
        """Return the id of the user's port, or None."""
        return self.arguments.request.get('port_id')

    @property
    def asking_port(self) -> session.Json | None:
        """Return the user's port if it requests resources, in the form of `resource_requests`."""
        request = self.arguments.request or {}
        if resource_requests.REQUEST not in request:
            return None
        asked = request[resource_requests.REQUEST]
        return {'id': request['port_id'], resource_requests.REQUEST: asked}

    def bind(self) -> session.Json:
        """Return the port's entry of network information.

        A port of the user is first noted as the user's, for a deletion that finds it on the server.
        If the server is deleted before a late request arrives, the port is released again.
        """
        row = self.guest.current()
        self.scope.here.require_up_or_fail(row.host)
        known = self.require_free()
        if self.given:
            self._note(self.given)
        found = self.results.get(port_resources.CLAIM)
        request = {**self.arguments.request, resource_requests.ALLOCATION: found}
        with neighbours.late(lambda: self._require_server(known)):
            return self.world.network.attach(self.ctxt, row, request, host=row.host, known=known)

    def _require_server(self, known: list[str]) -> None:
        """Release the port and raise InstanceNotFound if the server is gone.

        A successor may have undone this saga already: its own context may not change ports.
        """
        if self.scope.is_gone():
            self._take_back(context.admin(), known)
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)

    def require_free(self) -> list[str]:
        """Return `known`. Raise PortInUse if the user's port is among them."""
        known = self.known
        if self.given in known:
            raise exception.PortInUse(port_id=self.given)
        return known

    @scopes.transaction
    def _note(self, connection: sa.Connection, port_id: str) -> None:
        row = instances.lock(connection, self.instance_uuid)
        user_ports.note(connection, self.scope.require_there(row), port_id)

    def release(self) -> None:
        """Undo `bind`, even if its reply was lost, unless the guest may have the port."""
        if BIND in self.results and self.guest.keeps(neighbours.PORTS, self.results[BIND]['id']):
            return
        known = self.known
        self._take_back(self.ctxt, known)
        if self.given and self.given not in known:
            self.scope.write(user_ports.forget, self.instance_uuid, self.given)

    def _take_back(self, ctxt: context.RequestContext, known: list[str]) -> None:
        request = self.arguments.request
        self.world.network.undo_attach(ctxt, self.instance_uuid, request, known=known)

    def plug(self) -> asking.Reply:
        return self.guest.ask(self.scope.compute.attach_interface, vif=self.results[BIND])

    def unplug(self) -> asking.Reply:
        if BIND not in self.results:
            return None
        return self.guest.undo(
            self.scope.compute.detach_interface, port_id=self.results[BIND]['id']
        )

    def replug(self, **options: typing.Any) -> saga.Pending | None:
        """Restore the port after a reboot that may have missed it."""
        return self.guest.reconcile_port(self.results[BIND], **options)

    def reconcile(self, **options: typing.Any) -> saga.Pending | None:
        """Do the duty of a failed `unplug`. Until then the port stays reserved."""
        waits = self.guest.reconcile_port(self.results[BIND], **options)
        if waits is None:
            duties.forget_port(self.scope, self.given)
            if self.asking_port:
                self.resources.release()
        return waits

    def record(self) -> None:
        """Add the port to the server's record. This is the pivot."""
        vif = self._plugged()
        self.guest.finish(lambda connection, row: self._record(connection, row, vif))
        self.results[guest_devices.ACCEPTED] = vif['id']

    def _plugged(self) -> session.Json:
        """Return the port's entry of network information, with the device of its host."""
        vif: session.Json = self.results[BIND]
        if port_devices.KEY not in vif:
            return vif
        found = self.world.network.info(self.ctxt, self.instance_uuid, [vif])
        return next((entry for entry in found if entry['id'] == vif['id']), vif)

    def _record(self, connection: sa.Connection, row: rows.Row, vif: session.Json) -> None:
        others = [entry for entry in row.network_info or () if entry['id'] != vif['id']]
        info = network_info.merged(row.network_info, [*others, vif])
        network_info.store(connection, row.uuid, info)
        user_ports.forget(connection, row.uuid, vif['id'])
