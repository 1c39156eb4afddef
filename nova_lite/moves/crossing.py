"""What the sagas of a move between cells share: two cells, each with its own record.

One of the records is hidden at any time but around the switch of the mapping. Source:
reference/nova/cross-cell-resize 4 to 7.
"""

from nova_lite import exception
from nova_lite import states
from nova_lite.db.api import crossing
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import copies
from nova_lite.db.cell import fence
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.objects import block_device


class Side:
    """One cell as the steps of a saga see it."""

    def __init__(self, world, cell, ctxt):
        self._world, self._ctxt = world, ctxt
        self.cell = cell

    @property
    def compute(self):
        """A client of the cell's computes."""
        return self._world.compute(self.cell)

    def read(self, function, *args, **kwargs):
        """Read from the cell."""
        return self.cell.db.read(function, *args, **kwargs)

    def write(self, function, *args, **kwargs):
        """One transaction of the cell, refused as a whole when this epoch is old."""
        return self.cell.db.write(self._fenced, function, args, kwargs)

    def _fenced(self, connection, function, args, kwargs):
        fence.check(connection, self._ctxt)
        return function(connection, *args, **kwargs)

    def find(self, uuid):
        """The cell's record of a server, hidden or not; None when there is none."""
        return self.read(instances.find, uuid)

    def get(self, uuid):
        """As `find`; raises InstanceNotFound, also for a deleted one."""
        return self.read(instances.get, uuid, hidden=True)

    def is_up(self, host):
        """Return whether the compute service of a host of the cell is up."""
        return self.read(services.is_host_up, host, self._world.conf.service_down_time)

    def require_up(self, host):
        """Raise ServiceIsDown unless the compute service of a host of the cell is up."""
        if not self.is_up(host):
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)

    def devices(self, uuid):
        """A server's block devices, as messages carry them."""
        found = self.read(children.block_devices, [uuid]).get(uuid, ())
        return [block_device.BlockDevice.of(row) for row in found]

    def copy(self, uuid):
        """All there is of a server."""
        return self.read(copies.read, uuid)

    def purge(self, uuid):
        """Remove all there is of a server; it may be gone."""
        self.write(copies.purge, uuid)

    def hide(self, uuid):
        """Another cell's record stands for the server. Tells whether it was being deleted."""
        return self.write(hide, uuid)

    def seal(self, uuid, sealed=True):
        """Seal the record against changes by users while another cell takes it, or unseal it."""
        self.write(instances.seal, uuid, sealed)


def hide(connection, uuid):
    """Hide the record behind another cell's. Return whether it was being deleted.

    Hidden first: who deletes it has done so by then, or is sent to the other cell.
    """
    copies.show(connection, uuid, False)
    return instances.is_gone(instances.find(connection, uuid))


def switch(saga, source, dest):
    """The pivot: from here on the cell of `dest` has the server."""
    saga.world.api_db.write(
        crossing.switch,
        saga.ctxt,
        saga.instance_uuid,
        source_id=source.cell.id,
        dest_id=dest.cell.id,
    )
    return {'cell': dest.cell.uuid}


def delete(saga, side):
    """Go on, in the cell of `side`, with a deletion that began before, maybe in another one."""
    row = side.write(_begin_delete, saga.ctxt, saga.instance_uuid)
    if row is not None and row.host is not None:
        side.compute.delete_instance(
            saga.ctxt,
            host=row.host,
            instance=saga.instance(row),
            block_devices=side.devices(row.uuid),
        )


def _begin_delete(connection, ctxt, uuid):
    row = instances.find(connection, uuid)
    if row is None or row.deleted:
        return None
    if row.task_state != states.TaskState.DELETING:
        instances.update(connection, uuid, {'task_state': str(states.TaskState.DELETING)})
    if actions.find(connection, uuid, ctxt.request_id, 'delete') is None:
        actions.start(connection, ctxt, uuid, 'delete')
    return row
