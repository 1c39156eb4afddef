"""Detach an interface: unplugged, then its port deleted or given back, then forgotten.

From the step that gives the port up there is no way back: a port that was made for the
server may be gone.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.db.cell import user_ports
from nova_lite.moves import devices
from nova_lite.moves import places
from nova_lite.moves import steps

LOG = log.getLogger(__name__)

BEGIN = 'record the request'
UNPLUG = 'detach on the host'
AGAIN = 'unplug it from a guest made again'


class DetachInterface(devices.DeviceSaga):
    """arguments: 'port_id'"""

    kind = 'detach-interface'
    event = 'compute_detach_interface'

    def steps(self):
        return (
            steps.begin(self, BEGIN),
            self.at_guest(UNPLUG, self.unplug, self.plug, 'attach_interface', 'detach_interface'),
            saga.Step('give the port up', self.release, pivot=True, at=places.NETWORK),
            saga.Step('forget the interface', self.forget, at=places.SOURCE_RECORDS),
            steps.patient(
                AGAIN,
                self.unplug_again,
                clean=saga.Clean(lambda: self.settle(running=AGAIN), alone=True),
                at=places.SOURCE_HOST,
                calls=('attach_interface', 'detach_interface'),
            ),
        )

    def found(self, connection, row):
        for vif in row.network_info or ():
            if vif['id'] == self.arguments['port_id']:
                kept = vif['id'] in user_ports.of(row)
                return {'vif': {**vif, 'preserve_on_delete': kept}}
        raise exception.PortNotAttached(instance_id=row.uuid, port_id=self.arguments['port_id'])

    def undone(self, connection, row):
        """Nothing but the event was recorded."""

    def unplug(self):
        """detach_interface."""
        return self.ask_host(
            self.compute.detach_interface, UNPLUG, port_id=self.arguments['port_id']
        )

    def plug(self):
        """Undo of `unplug`."""
        if BEGIN not in self.data or self.is_gone():
            return None
        return self.undo_at_host(self.compute.attach_interface, UNPLUG, vif=self.began['vif'])

    def settle(self, **options):
        """Have the guest as it is on record. The duty when `plug` failed."""
        return self.settle_port(UNPLUG, self.began['vif'], **options)

    def release(self):
        """From here on the port is not the server's: deleted if it was made for it."""
        self.current()
        self.world.network.release_from(self.ctxt, self.instance_uuid, [self.began['vif']])

    def forget(self):
        self.write(self._forget)

    def unplug_again(self):
        return self.settle_remade(UNPLUG, forward=True, running=AGAIN)

    def _forget(self, connection):
        try:
            row = instances.lock(connection, self.instance_uuid)
        except exception.InstanceNotFound:
            LOG.info('Server %s is deleted, its interfaces with it', self.instance_uuid)
        else:
            port_id = self.arguments['port_id']
            kept = [entry for entry in row.network_info or () if entry['id'] != port_id]
            instances.update(connection, row.uuid, {'network_info': kept})
        self.end_events(connection)
