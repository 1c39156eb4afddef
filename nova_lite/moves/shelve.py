"""Shelve and shelveOffload: a server becomes an image, and then leaves its host.

What fails before the server is recorded as shelved leaves it as it was; one that was
paused or suspended is stopped then, for a snapshot takes its memory. A server that
boots from a volume needs no image and is offloaded at once.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import image
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.moves import duties
from nova_lite.moves import shelving

Task = states.TaskState
Vm = states.VmState

QUEUE = 'create shelved image'
SNAPSHOT = 'stop and snapshot'
RECORD = 'record that it is shelved'
IMAGE_NAME = '%s-shelved'


class Shelve(shelving.Offloading):
    """arguments: 'offload': leave the host at once; 'image': False needs none."""

    kind = 'shelve'
    first_event = shelving.SHELVE_EVENT
    harmless = (QUEUE,)

    def steps(self):
        return (
            saga.Step(shelving.BEGIN, self.begin, undo=self.give_up),
            saga.Step(
                QUEUE,
                self.queue_image,
                undo=self.drop_image,
                clean=duties.own(self.drop_image),
            ),
            saga.Step(SNAPSHOT, self.snapshot, undo=self.take_back),
            saga.Step(RECORD, self.record, pivot=True),
            *(self.offload_steps() if self.arguments['offload'] else ()),
        )

    @property
    def image_id(self):
        """Of the image: the saga's own uuid; None where the disks are volumes."""
        return self.uuid if self.arguments['image'] else None

    def queue_image(self):
        self.require_up()
        if self.image_id:
            row = self.row()
            self.world.image.create_snapshot(
                self.ctxt,
                IMAGE_NAME % row.display_name,
                row,
                properties={image.SHELVED: 'True'},
                image_id=self.image_id,
            )

    def drop_image(self):
        """Undo of `queue_image`."""
        if self.image_id:
            self.world.image.delete(self.ctxt, self.image_id, missing_ok=True)

    def snapshot(self):
        """prep_snapshot_based_resize_at_source: the guest stops, its disk is uploaded."""
        self.progress(changes={'task_state': str(Task.SHELVING_IMAGE_UPLOADING)})
        return self._stop(SNAPSHOT, self.image_id)

    def _stop(self, step, image_id):
        return self.ask(
            self.compute.prep_snapshot_based_resize_at_source,
            self.at_host(step),
            image_id=image_id,
        )

    def take_back(self):
        """Undo of `snapshot`: the guest runs again if it did."""
        if self.is_gone() or self.began['vm_state'] == Vm.STOPPED:
            return None
        if self.began['vm_state'] == Vm.ACTIVE:
            return self.ask(
                self.compute.finish_revert_resize,
                self.at_host(f'undo {SNAPSHOT}'),
                move=self.uuid,
                power_on=True,
            )
        self.data['stopped'] = True
        return self._stop(f'undo {SNAPSHOT}', None)

    def changes_of_failure(self, row):
        if self.data.get('stopped'):
            return {'vm_state': Vm.STOPPED, 'power_state': int(states.PowerState.SHUTDOWN)}
        return {}

    def record(self):
        """From here on the server is shelved."""
        self.write(self._record)

    def _record(self, connection):
        row = instances.get(connection, self.instance_uuid)
        if row.vm_state == Vm.SHELVED:
            return
        offload = self.arguments['offload']
        shelf = {
            shelving.SHELVED_AT: runtime.naive_now().isoformat(),
            shelving.IMAGE_ID: self.image_id,
            shelving.HOST: row.host,
        }
        self._progress(
            connection,
            {
                'vm_state': str(Vm.SHELVED),
                'power_state': int(states.PowerState.SHUTDOWN),
                'task_state': str(Task.SHELVING_OFFLOADING) if offload else None,
                'system_metadata': {**row.system_metadata, **shelf},
            },
            self.tasks,
            status=None,
            ended=(shelving.SHELVE_EVENT, row.host),
            started=(shelving.OFFLOAD_EVENT, row.host) if offload else None,
        )
        if not offload:
            self.end_events(connection)


class ShelveOffload(shelving.Offloading):
    """Take a shelved server off its host."""

    kind = 'shelve-offload'
    first_event = shelving.OFFLOAD_EVENT

    def steps(self):
        return (
            saga.Step(shelving.BEGIN, self.begin, undo=self.give_up),
            saga.Step('see that the host is up', self.agree, pivot=True),
            *self.offload_steps(),
        )

    def agree(self):
        """From here on there is no way back. A host that is down cannot let go."""
        self.require_up()
        self.write(self._agree)

    def _agree(self, connection):
        row = instances.get(connection, self.instance_uuid)
        if row.task_state not in self.tasks:
            raise exception.StateChanged(
                what='Instance', key=row.uuid, detail=f'found task {row.task_state}'
            )
        actions.start_event(
            connection, row.uuid, self.ctxt.request_id, self.first_event, self.began['host']
        )
