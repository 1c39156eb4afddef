"""Resize and cold migrate to another cell, up to VERIFY_RESIZE.

The steps and their order are those of reference/nova/cross-cell-resize 4: the disk is
copied before the guest leaves, and the guest has left the source before it is made on
the destination. What fails before the switch leaves the server as it was.
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import bindings
from nova_lite.db.cell import copies
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import group_policies
from nova_lite.moves import asking
from nova_lite.moves import crossing
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
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
    msg = (
        'Cross-cell moves need the extension %(extension)s of the network service. Upgrade Neutron.'
    )


class Crossing(part.Part):
    """move: the Resize, whose destination is in another cell"""

    def steps(self):
        """All steps of the move."""
        return (*self._promised(), *self._copied(), *self._switched())

    def _promised(self):
        """The destination is chosen, has the records, and promises room."""
        move = self._move
        return (
            steps.begin(move),
            steps.hold(move),
            steps.choose(move),
            places.SOURCE_RECORDS.step(steps.RECORD, self.record, move.forget),
            places.DEST_RECORDS.step(COPY, self.copy, self.drop_copy, clean=duties.copy(move)),
            move.ports.binding(steps.BIND),
            move.volumes.step(),
            move.claiming(),
        )

    def _copied(self):
        """The guest leaves, and is made again."""
        move = self._move
        return (
            self.image.step(QUEUE, self.queue_image),
            places.SOURCE_HOST.step(
                SNAPSHOT,
                self.snapshot,
                move.take_back,
                calls=(
                    'discard_guest',
                    'finish_revert_resize',
                    'prep_snapshot_based_resize_at_source',
                ),
            ),
            places.SOURCE_HOST.step(LEAVE, self.leave, calls=('resize_instance',)),
            move.ports.plugging(steps.ACTIVATE),
            places.DEST_HOST.step(
                SPAWN,
                self.spawn,
                move.destroy,
                calls=('finish_snapshot_based_resize_at_dest', 'revert_resize'),
            ),
        )

    def _switched(self):
        """The destination's record takes the place of the source's."""
        move = self._move
        return (
            places.DEST_RECORDS.step(SHOW, self.show, self.hide_copy, clean=duties.copy(move)),
            places.API_DATABASE.step(SWITCH, self.switch, pivot=True),
            places.SOURCE_RECORDS.step(HIDE, self.hide_source),
            steps.save_spec(move),
            self.image.dropping('delete snapshot image'),
            *move.steps_of_attachments(),
            places.DEST_RECORDS.step(DELETE, self.delete, calls=('discard_guest',)),
        )

    @property
    def here(self):
        """The source cell."""
        return self._move.here

    @property
    def there(self):
        """The destination cell."""
        return self._move.there

    # ---- records in both cells ----

    def record(self):
        """Record in the source cell where the server goes."""
        move = self._move
        if not move.world.network.bindings.are_supported(move.ctxt):
            raise NetworkTooOld(extension=bindings.EXTENSION)
        self._record(self.there.read(move.destination_columns))

    @part.transaction
    def _record(self, connection, columns):
        move = self._move
        instances.update(
            connection,
            move.instance_uuid,
            {'new_flavor': move.new_flavor},
            expect_task=(Task.RESIZE_PREP,),
        )
        migrations.update(connection, move.uuid, {**columns, 'cross_cell_move': True})
        move.start_event(connection, PREP_EVENT, move.destination.service_host)

    def copy(self):
        """Record the server in the destination cell, hidden and on no host.

        From here on that cell knows of the move; the server's group may forbid it by now.
        """
        move, uuid = self._move, self._move.instance_uuid
        chosen, group, copy = move.destination, move.group(), self.here.copy(uuid)
        copy.instance.update(
            hidden=True, host=None, node=None, availability_zone=chosen.availability_zone
        )
        for migration in copy.migrations:
            migration['hidden'] = True
        self.there.write(copies.create, copy, move.uuid)
        if group is not None:
            # Not with the copy: of two members that come at once neither would see the other.
            host = chosen.service_host
            self.there.write(group_places.check, uuid, host, group)
            # Members that were in other cells before this move was on record there have not
            # seen it, and a cell that did not answer the scheduler had none to it.
            group_policies.check_other_cells(
                move.world, group, cell=self.there.cell, host=host, own={uuid}
            )

    def drop_copy(self):
        self.there.purge(self._move.instance_uuid)

    # ---- the hosts ----

    @property
    def image(self):
        """The image that the disk travels in; none for a server that boots from a volume."""
        return snapshot.Snapshot(self._move, IMAGE_NAME, is_wanted=self._has_a_disk)

    def _has_a_disk(self):
        return not any(
            device.boot_index == 0 and device.destination_type == 'volume'
            for device in self._move.devices()
        )

    def queue_image(self):
        """Returns the id of the image that the disk will travel in."""
        return {'id': self.image.queue()}

    def snapshot(self):
        """prep_snapshot_based_resize_at_source: the guest stops, its disk is uploaded."""
        move = self._move
        asking.require_heard(move, move.began['host'])
        move.note_leaving(PREP_EVENT, SOURCE_EVENT)
        return asking.answer(
            move.compute.prep_snapshot_based_resize_at_source(
                move.ctxt,
                host=move.began['host'],
                instance_uuid=move.instance_uuid,
                node=move.began['node'],
                image_id=move.data[QUEUE]['id'],
                key=move.key(SNAPSHOT),
            )
        )

    def leave(self):
        """resize_instance: the source keeps the disks of a guest that it will not start."""
        move = self._move
        return move.ask(move.compute.resize_instance, move.source(LEAVE))

    def spawn(self):
        """finish_snapshot_based_resize_at_dest: the destination makes the guest."""
        return self._move.make_guest(
            self.there.compute.finish_snapshot_based_resize_at_dest,
            (SOURCE_EVENT, FINISH_EVENT),
            image_id=self._move.data[QUEUE]['id'],
        )

    # ---- from one record to the other ----

    def show(self):
        """The copy becomes what the server shall be, with what its user did meanwhile."""
        move = self._move
        self.here.seal(move.instance_uuid)
        copy = self.here.copy(move.instance_uuid)
        crossing.require_free(move.row(), move.instance_uuid, move.tasks)
        copy.instance.update(
            move.columns_of_arrival(copy.instance['flavor']),
            hidden=False,
            sealed=False,
            availability_zone=move.destination.availability_zone,
            new_flavor=move.new_flavor,
        )
        self.there.write(self._show, copy)

    def _show(self, connection, copy):
        move = self._move
        copies.renew(connection, copy)
        move.arrived(connection)
        copies.show(connection, move.instance_uuid, True)
        move.end_events(connection)

    def hide_copy(self):
        """Undo of `show`. First of all the server: the other cell may be away for long."""
        self.here.seal(self._move.instance_uuid, False)
        self.there.hide(self._move.instance_uuid)

    def switch(self):
        """From here on the server is the destination's, in VERIFY_RESIZE."""
        return crossing.switch(self._move, self.here, self.there)

    @part.transaction
    def hide_source(self, connection):
        """The source's record waits for the end. Tells whether the server was deleted."""
        gone = crossing.hide(connection, self._move.instance_uuid)
        self._move.end_events(connection)
        return {'gone': gone}

    def delete(self):
        """Someone deleted the server at the source while it was switched: so it is gone."""
        move = self._move
        if not move.data[HIDE]['gone']:
            return saga.Skipped()
        waits = move.ask(move.compute.discard_guest, move.source('discard'))
        if isinstance(waits, saga.Pending):
            return waits
        move.world.placement.delete_allocations(move.ctxt, move.uuid, force=True)
        row = self.there.find(move.instance_uuid)
        if row is not None:
            # It may be deleted by now: this may have been done before, or its user did it.
            neighbours.unbind(move.world, move.ctxt, row.network_info, move.began['host'])
            self.there.write(migrations.update, move.uuid, {'status': str(Status.ERROR)})
        crossing.delete(move, self.there)
        self.here.purge(move.instance_uuid)
        return None
