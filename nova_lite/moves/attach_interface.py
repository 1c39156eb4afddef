"""Attach an interface: a port made or taken over, bound to the host and plugged in.

What fails is undone: a port that was made is deleted, one that was given is free again.
"""

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.db.cell import user_ports
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import guest_devices

BIND = 'give the server its port'
PLUG = 'attach on the host'
EVENT = 'compute_attach_interface'


class AttachInterface(move.Move):
    """arguments: 'request': {'network_id', 'fixed_ip', 'port_id', 'tag'}"""

    kind = 'attach-interface'
    faults = False
    ways = guest_devices.WAYS_OF_ATTACHING

    def steps(self):
        return (
            steps.begin(self),
            places.NETWORK.step(BIND, self.bind, self.release, clean=duties.foreign_ports(self)),
            self.guest.step(self.plug, self.unplug, 'attach_interface', 'detach_interface'),
            places.SOURCE_RECORDS.step('record the interface', self.record, pivot=True),
            *self.guest.replugging(self.replug, 'attach_interface', 'detach_interface'),
        )

    @property
    def guest(self):
        """The guest's devices."""
        return guest_devices.GuestDevices(self, PLUG, self.settle)

    def begun(self, connection, row):
        self.require_there(row)
        ports = neighbours.port_ids(row.network_info)
        return self.guest.begin(connection, row, EVENT, ports=ports)

    @property
    def known(self):
        """Ports that the server had before, or whose guest may have them."""
        held = neighbours.held(self.world, self.instance_uuid, neighbours.PORTS)
        return [*self.began['ports'], *sorted(held)]

    @property
    def given(self):
        """The id of the user's port, or None."""
        return self.arguments['request'].get('port_id')

    def bind(self):
        """Returns the port's entry of network information.

        A deletion that finds the port with the server knows that it is the user's.
        """
        row = self.guest.current()
        self.guest.require_up(row.host)
        known = self.known
        if self.given in known:
            raise exception.PortInUse(port_id=self.given)
        if self.given:
            self.write(self._note)
        return self.world.network.attach(
            self.ctxt,
            row,
            self.arguments['request'],
            host=row.host,
            known=known,
        )

    def _note(self, connection):
        row = instances.lock(connection, self.instance_uuid)
        user_ports.note(connection, self.require_there(row), self.given)

    def release(self):
        """Undo of `bind`, also of one whose answer was lost, unless the guest may have the port."""
        if BIND in self.data and self.guest.keeps(neighbours.PORTS, self.data[BIND]['id']):
            return
        known = self.known
        self.world.network.undo_attach(
            self.ctxt,
            self.instance_uuid,
            self.arguments['request'],
            known=known,
        )
        if self.given and self.given not in known:
            self.write(user_ports.forget, self.instance_uuid, self.given)

    def plug(self):
        """attach_interface."""
        return self.guest.ask(self.compute.attach_interface, vif=self.data[BIND])

    def unplug(self):
        if BIND not in self.data:
            return None
        return self.guest.undo(self.compute.detach_interface, port_id=self.data[BIND]['id'])

    def replug(self, **options):
        """Have the guest as it is on record, after a reboot that may not have known the port."""
        return self.guest.settle_port(self.data[BIND], **options)

    def settle(self):
        """The duty when `unplug` failed: only then the port is free again."""
        waits = self.guest.settle_port(self.data[BIND])
        if waits is None:
            duties.forget_port(self, self.given)
        return waits

    def record(self):
        """From here on the port is the server's."""
        self.guest.finish(self._record)
        self.data[guest_devices.ACCEPTED] = self.data[BIND]['id']

    def _record(self, connection, row):
        vif = self.data[BIND]
        others = [entry for entry in row.network_info or () if entry['id'] != vif['id']]
        instances.update(connection, row.uuid, {'network_info': [*others, vif]})
        user_ports.forget(connection, row.uuid, vif['id'])
