"""Resize and cold migrate to another cell, up to VERIFY_RESIZE.

The destination is the scheduler's choice: one in the server's own cell makes this an
ordinary resize. The steps and their order are those of reference/nova/cross-cell-resize 4:
the disk is copied before the guest leaves, and the guest has left the source before it
is made on the destination. What fails before the switch leaves the server as it was.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import bindings
from nova_lite.db.cell import actions
from nova_lite.db.cell import copies
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import group_policies
from nova_lite.moves import asking
from nova_lite.moves import crossing
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import resize
from nova_lite.moves import steps
from nova_lite.moves.parts import snapshot

Task = states.TaskState
Status = states.MigrationStatus

COPY = 'copy records to destination cell'
QUEUE = 'create snapshot image'
SNAPSHOT = 'stop and snapshot at source'
LEAVE = 'leave the source'
SPAWN = 'spawn on destination'
SHOW = 'show the copy'
SWITCH = 'switch mapping to destination cell'
HIDE = 'hide source records'
DELETE = 'delete what was deleted meanwhile'
PREP_EVENT = 'compute_prep_snapshot_based_resize_at_dest'
SOURCE_EVENT = 'compute_prep_snapshot_based_resize_at_source'
FINISH_EVENT = 'compute_finish_snapshot_based_resize_at_dest'
IMAGE_NAME = '%s-resize-temp'


class NetworkTooOld(exception.NovaLiteError):
    msg = 'Moves between cells need the extension %(extension)s of the network service.'


class CrossCellResize(resize.Resize):
    """To another flavor on a host of any cell; a cold migration keeps the flavor."""

    kind, also = 'cross-cell-resize', ('cross-cell-migrate',)
    refusable = (*resize.Resize.refusable, COPY)
    harmless = (*resize.Resize.harmless, COPY, SHOW)
    ways = (saga.Way(), saga.Way({'cell': 'its own'}, {steps.CHOOSE: {'cell_uuid': 'another'}}))

    def steps(self):
        return self.crossing_steps() if self.crosses else super().steps()

    def crossing_steps(self):
        return (*self._promised(), *self._copied(), *self._switched())

    def _promised(self):
        """The destination is chosen, has the records, and promises room."""
        return (
            steps.begin(self),
            steps.hold(self),
            steps.choose(self),
            saga.Step(
                resize.RECORD,
                self.record_crossing,
                undo=self.forget_crossing,
                at=places.SOURCE_RECORDS,
            ),
            saga.Step(
                COPY,
                self.copy,
                undo=self.drop_copy,
                clean=duties.copy(self),
                at=places.DEST_RECORDS,
            ),
            self.ports.binding(resize.BIND),
            self.volumes.step(),
            saga.Step(
                resize.CLAIM,
                self.claim,
                undo=self.forgo,
                at=places.DEST_HOST,
                calls=('forgo_resize', 'prep_resize'),
            ),
        )

    def _copied(self):
        """The guest leaves, and is made again."""
        return (
            self.image.step(QUEUE, self.queue_image),
            saga.Step(
                SNAPSHOT,
                self.snapshot,
                undo=self.take_back,
                at=places.SOURCE_HOST,
                calls=(
                    'discard_guest',
                    'finish_revert_resize',
                    'prep_snapshot_based_resize_at_source',
                ),
            ),
            saga.Step(LEAVE, self.leave_cell, at=places.SOURCE_HOST, calls=('resize_instance',)),
            self.ports.plugging(resize.ACTIVATE),
            saga.Step(
                SPAWN,
                self.spawn,
                undo=self.destroy,
                at=places.DEST_HOST,
                calls=('finish_snapshot_based_resize_at_dest', 'revert_resize'),
            ),
        )

    def _switched(self):
        """The destination's record takes the place of the source's."""
        return (
            saga.Step(
                SHOW,
                self.show,
                undo=self.hide_copy,
                clean=duties.copy(self),
                at=places.DEST_RECORDS,
            ),
            saga.Step(SWITCH, self.switch_cell, pivot=True, at=places.API_DATABASE),
            saga.Step(HIDE, self.hide_source, at=places.SOURCE_RECORDS),
            steps.save_spec(self),
            self.image.dropping('delete snapshot image'),
            *self.steps_of_attachments(SPAWN),
            saga.Step(DELETE, self.delete_there, at=places.DEST_RECORDS, calls=('discard_guest',)),
        )

    @property
    def arrival(self):
        return SPAWN if self.crosses else resize.FINISH

    def undone(self, connection, row):
        instances.seal(connection, self.instance_uuid, False)
        super().undone(connection, row)

    # ---- where it goes ----

    @property
    def crosses(self):
        """Whether a destination in another cell is chosen."""
        chosen = self.data.get(steps.CHOOSE)
        return chosen is not None and chosen['cell_uuid'] != self.arguments['cell']

    @property
    def here(self):
        """The source cell."""
        return crossing.Side(self.world, self.cell, self.ctxt)

    @property
    def there(self):
        """The destination cell."""
        cell = self.world.cells.get(self.destination.cell_uuid)
        return crossing.Side(self.world, cell, self.ctxt)

    def spec(self):
        spec = super().spec()
        # A host that it was evacuated from looks in its own cell for what to clean up.
        spec.destination().allow_cross_cell_move = not self.kept_on()
        return spec

    # ---- records in both cells ----

    def record_crossing(self):
        """Record in the source cell where the server goes."""
        if not self.world.network.bindings.are_supported(self.ctxt):
            raise NetworkTooOld(extension=bindings.EXTENSION)
        where = self.there.read(self.destination_columns)
        self.write(self._record_crossing, {**where, 'cross_cell_move': True})

    def _record_crossing(self, connection, values):
        instances.update(
            connection,
            self.instance_uuid,
            {'new_flavor': self.new_flavor},
            expect_task=(Task.RESIZE_PREP,),
        )
        migrations.update(connection, self.uuid, values)
        host, request_id = self.destination.service_host, self.ctxt.request_id
        actions.start_event(connection, self.instance_uuid, request_id, PREP_EVENT, host)

    def forget_crossing(self):
        """Undo of `record_crossing`. That it was to cross stays on record, also if it turns."""
        self.write(self._forget_crossing)

    def _forget_crossing(self, connection):
        row = instances.find(connection, self.instance_uuid)
        if row is not None and not row.deleted:
            instances.update(connection, row.uuid, {'new_flavor': None})
        self.end_refused(connection, PREP_EVENT, self.destination.service_host)
        if self.turning:
            migrations.update(connection, self.uuid, migrations.NOWHERE)

    def copy(self):
        """Record the server in the destination cell, hidden and on no host.

        From here on that cell knows of the move; the server's group may forbid it by now.
        """
        copy = self.here.copy(self.instance_uuid)
        copy.instance.update(
            hidden=True,
            host=None,
            node=None,
            availability_zone=self.destination.availability_zone,
        )
        for migration in copy.migrations:
            migration['hidden'] = True
        self.there.write(copies.create, copy, self.uuid)
        group = self.group()
        if group is not None:
            # Not with the copy: of two members that come at once neither would see the other.
            host = self.destination.service_host
            self.there.write(group_places.check, self.instance_uuid, host, group)
            # Members that were in other cells before this move was on record there have not
            # seen it, and a cell that did not answer the scheduler had none to it.
            group_policies.check_other_cells(
                self.world, group, cell=self.there.cell, host=host, own={self.instance_uuid}
            )

    def drop_copy(self):
        self.there.purge(self.instance_uuid)

    # ---- the hosts ----

    @property
    def image(self):
        """The image that the disk travels in; none for a server that boots from a volume."""
        return snapshot.Snapshot(self, IMAGE_NAME, is_wanted=self._has_a_disk)

    def _has_a_disk(self):
        return not any(
            device.boot_index == 0 and device.destination_type == 'volume'
            for device in self.devices()
        )

    def queue_image(self):
        """Returns the id of the image that the disk will travel in."""
        return {'id': self.image.queue()}

    def snapshot(self):
        """prep_snapshot_based_resize_at_source: the guest stops, its disk is uploaded."""
        asking.require_heard(self, self.began['host'])
        self.progress(
            status=Status.MIGRATING,
            changes={'task_state': str(Task.RESIZE_MIGRATING)},
            ended=(PREP_EVENT, self.destination.service_host),
            started=(SOURCE_EVENT, self.began['host']),
            expect=(Task.RESIZE_PREP, Task.RESIZE_MIGRATING),
        )
        return asking.answer(
            self.compute.prep_snapshot_based_resize_at_source(
                self.ctxt,
                host=self.began['host'],
                instance_uuid=self.instance_uuid,
                node=self.began['node'],
                image_id=self.data[QUEUE]['id'],
                key=self.key(SNAPSHOT),
            )
        )

    def leave_cell(self):
        """resize_instance: the source keeps the disks of a guest that it will not start."""
        return self.ask(self.compute.resize_instance, self.source(LEAVE))

    def spawn(self):
        """finish_snapshot_based_resize_at_dest: the destination makes the guest."""
        host = self.destination.service_host
        asking.require_heard(self, host)
        self.progress(
            status=Status.POST_MIGRATING,
            changes={'task_state': str(Task.RESIZE_FINISH)},
            ended=(SOURCE_EVENT, self.began['host']),
            started=(FINISH_EVENT, host),
            expect=(Task.RESIZE_MIGRATING, Task.RESIZE_FINISH),
        )
        return asking.answer(
            self.there.compute.finish_snapshot_based_resize_at_dest(
                self.ctxt,
                host=host,
                instance=self.arriving(self.there.get(self.instance_uuid)),
                block_devices=self.volumes.arriving(),
                arrival={
                    'node': self.destination.nodename,
                    'image_id': self.data[QUEUE]['id'],
                    'power_on': self.began['vm_state'] == states.VmState.ACTIVE,
                    'key': self.key(SPAWN),
                },
            )
        )

    # ---- from one record to the other ----

    def show(self):
        """The copy becomes what the server shall be, with what its user did meanwhile."""
        self.here.seal(self.instance_uuid)
        copy = self.here.copy(self.instance_uuid)
        crossing.require_free(self.row(), self.instance_uuid, self.tasks)
        copy.instance.update(self._arrived(copy.instance))
        self.there.write(self._show, copy)

    def _arrived(self, former):
        return {
            'hidden': False,
            'sealed': False,
            'host': self.destination.service_host,
            'node': self.destination.nodename,
            'availability_zone': self.destination.availability_zone,
            'old_flavor': former['flavor'],
            'new_flavor': self.new_flavor,
            'power_state': self.data[SPAWN]['power_state'],
            'vm_state': str(states.VmState.RESIZED),
            'task_state': None,
            'launched_at': runtime.naive_now(),
            'network_info': self.data.get(resize.ACTIVATE) or former['network_info'],
            **move_records.flavor_columns(self.new_flavor),
        }

    def _show(self, connection, copy):
        copies.renew(connection, copy)
        move_records.change_devices(
            connection, self.volumes.reserved, self.data[SPAWN].get('block_devices')
        )
        migrations.update(connection, self.uuid, {'status': str(Status.FINISHED)})
        copies.show(connection, self.instance_uuid, True)
        self.end_events(connection)

    def hide_copy(self):
        """Undo of `show`. First of all the server: the other cell may be away for long."""
        self.here.seal(self.instance_uuid, False)
        self.there.hide(self.instance_uuid)

    def switch_cell(self):
        """From here on the server is the destination's, in VERIFY_RESIZE."""
        return crossing.switch(self, self.here, self.there)

    def hide_source(self):
        """The source's record waits for the end. Tells whether the server was deleted."""
        return self.write(self._hide_source)

    def _hide_source(self, connection):
        gone = crossing.hide(connection, self.instance_uuid)
        self.end_events(connection)
        return {'gone': gone}

    def delete_there(self):
        """Someone deleted the server at the source while it was switched: so it is gone."""
        if not self.data[HIDE]['gone']:
            return saga.Skipped()
        waits = self.ask(self.compute.discard_guest, self.source('discard'))
        if isinstance(waits, saga.Pending):
            return waits
        self.world.placement.delete_allocations(self.ctxt, self.uuid, force=True)
        row = self.there.find(self.instance_uuid)
        if row is not None:
            # It may be deleted by now: this may have been done before, or its user did it.
            neighbours.unbind(self.world, self.ctxt, row.network_info, self.began['host'])
            self.there.write(migrations.update, self.uuid, {'status': str(Status.ERROR)})
        crossing.delete(self, self.there)
        self.here.purge(self.instance_uuid)
        return None
