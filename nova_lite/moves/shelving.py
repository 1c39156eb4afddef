"""What shelving, offloading, unshelving and rebuilding share, and the steps that offload.

Offloading has its pivot before the guest is destroyed: from there on it is only
repeated. A server that its user deletes meanwhile is left to who deletes it; what a
step made besides is taken away again.
Source: reference/nova/moves 1, reference/nova/api-surface 2.4.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import release
from nova_lite.db.cell import instances
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours

LOG = log.getLogger(__name__)

Task = states.TaskState
Vm = states.VmState

BEGIN = 'record the action'
DESTROY = 'destroy the guest'
RESERVE = 'reserve volumes'
SHELVE_EVENT = 'compute_shelve_instance'
OFFLOAD_EVENT = 'compute_shelve_offload_instance'
# Keys of a server's system metadata while it is shelved; the names are nova's.
SHELVED_AT, IMAGE_ID, HOST = 'shelved_at', release.SHELVED_IMAGE, 'shelved_host'


def without_shelf(system_metadata):
    """A server's system metadata without what tells how it was shelved."""
    return {
        name: value
        for name, value in system_metadata.items()
        if name not in (SHELVED_AT, IMAGE_ID, HOST)
    }


class Shelving(move.Move):
    """Base. first_event: with which the saga begins"""

    first_event = None

    @property
    def began(self):
        """What the server was: {'host', 'node', 'vm_state', 'image_id'}."""
        return self.data[BEGIN]

    def begun(self, connection, row):
        if instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        self._progress(
            connection,
            {},
            self.tasks,
            status=None,
            started=(self.first_event, row.host),
            ended=None,
        )
        return {
            'host': row.host,
            'node': row.node,
            'vm_state': row.vm_state,
            'image_id': row.system_metadata.get(IMAGE_ID),
        }

    def at_host(self, step):
        """What a method of the server's host is asked with."""
        return {
            'host': self.began['host'],
            'instance_uuid': self.instance_uuid,
            'node': self.began['node'],
            'key': self.key(step),
        }

    def require_up(self):
        """Raise ServiceIsDown when the server's host cannot be asked."""
        if not self.is_up(self.began['host']):
            raise exception.ServiceIsDown(binary='nova-compute', host=self.began['host'])

    def settle(self, changes):
        """Clear the task, unless it is another's by now, and end the action."""
        self.write(self._settle, changes)

    def _settle(self, connection, changes):
        try:
            instances.update(
                connection,
                self.instance_uuid,
                {'task_state': None, **changes},
                expect_task=self.tasks,
            )
        except exception.StateChanged as error:
            LOG.info('Server %s keeps its states: %s', self.instance_uuid, error)
        self.end_events(connection)

    # ---- volumes, as relocations have them ----

    def reserve(self):
        """Attachments that connect no host, or another one."""
        return neighbours.reserve(
            self.world, self.ctxt, self.instance_uuid, self.devices(), repeated=self.repeated
        )

    def unreserve(self):
        neighbours.drop_foreign(self.world, self.ctxt, self.instance_uuid, self.devices())

    def drop_attachments(self):
        """End the attachments that were replaced; of a deleted server also the new ones."""
        for former, _new in (self.data.get(RESERVE) or {}).values():
            self.world.volume.delete_attachment(self.ctxt, former)
        if self.is_gone():
            neighbours.drop_foreign(self.world, self.ctxt, self.instance_uuid, self.devices())


class Offloading(Shelving):
    """A saga that takes a shelved server off its host."""

    tasks = (Task.SHELVING, Task.SHELVING_IMAGE_UPLOADING, Task.SHELVING_OFFLOADING)

    def offload_steps(self):
        """What follows the pivot."""
        return (
            saga.Step(DESTROY, self.destroy),
            saga.Step(RESERVE, self.reserve_for_none),
            saga.Step('unbind ports', self.unbind),
            saga.Step('record that it is nowhere', self.record_offloaded),
            saga.Step('give allocations back', self.release_claims),
            saga.Step(
                'drop former attachments',
                self.drop_attachments,
                attempts=move.PATIENCE,
                left=True,
                clean=duties.attachments(self, RESERVE),
            ),
            saga.Step('tell that it is offloaded', self.complete),
        )

    def destroy(self):
        """revert_resize: the host removes the guest, whatever there is of it."""
        if self.is_gone():
            return None
        return self.ask(self.compute.revert_resize, self.at_host(DESTROY), move=self.uuid)

    def reserve_for_none(self):
        return None if self.is_gone() else self.reserve()

    def unbind(self):
        """The ports stay the server's and are bound to no host."""
        row = self.read(instances.find, self.instance_uuid)
        if not instances.is_gone(row):
            self.world.network.unbind(self.ctxt, neighbours.port_ids(row.network_info))

    def record_offloaded(self):
        """The server is on no host."""
        self.write(self._record_offloaded)

    def _record_offloaded(self, connection):
        row = instances.find(connection, self.instance_uuid)
        if instances.is_gone(row) or row.host is None:
            return
        changes = {
            'host': None,
            'node': None,
            'vm_state': str(Vm.SHELVED_OFFLOADED),
            'power_state': int(states.PowerState.SHUTDOWN),
        }
        try:
            instances.update(connection, row.uuid, changes, expect_task=self.tasks)
        except exception.StateChanged as error:
            LOG.info('Server %s keeps its states: %s', row.uuid, error)
            return
        move_records.change_devices(connection, self.data.get(RESERVE), None)

    def release_claims(self):
        """Give up what it holds, but for hosts that it was evacuated from before."""
        row = self.read(instances.find, self.instance_uuid)
        gone = row is None or row.deleted
        if gone or row.host is None:
            keep = () if gone else self.kept_on()
            self.world.placement.delete_allocations(
                self.ctxt, self.instance_uuid, force=not keep, keep=keep
            )

    def complete(self):
        """The last of it: the server is its user's again."""
        self.settle({})
