"""Resize and cold migrate to another cell, up to VERIFY_RESIZE.

The steps and their order are those of reference/nova/cross-cell-resize 4: the disk is copied
before the guest leaves, and the guest leaves the source before it is created on the
destination. A failure before the switch leaves the server as it was.
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import bindings
from nova_lite.db import rows
from nova_lite.db.cell import copies
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.lifecycle import group_policies
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import image_snapshot

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves
    from nova_lite.moves import resize

Task = states.TaskState
Status = states.MigrationStatus


class Image(saga.Value):
    """The image through which the disk is copied. id: None if the server has no disk"""

    id: str | None


class Hidden(saga.Value):
    """gone: whether the server was being deleted when the source's record was hidden"""

    gone: bool


COPY = 'copy-records-to-destination-cell'
QUEUE = saga.Result('create-snapshot-image', Image)
SNAPSHOT = 'stop-and-snapshot-at-source'
LEAVE = saga.Result('leave-source', answers.Departed, secret=True)
SPAWN = saga.Result('spawn-on-destination', answers.Guest)
SHOW = 'show-copy'
SWITCH = 'switch-mapping-to-destination-cell'
HIDE = saga.Result('hide-source-records', Hidden)
DELETE = 'delete-if-deleted'
PREP_EVENT = 'compute_prep_snapshot_based_resize_at_dest'
SOURCE_EVENT = 'compute_prep_snapshot_based_resize_at_source'
FINISH_EVENT = 'compute_finish_snapshot_based_resize_at_dest'
IMAGE_NAME = '%s-resize-temp'


class NetworkTooOld(exception.NovaLiteError):
    msg = (
        'Cross-cell moves need the extension %(extension)s of the network service. Upgrade Neutron.'
    )


def has_a_disk(move: 'moves.AnyMove') -> bool:
    """Return whether a server does not boot from a volume."""
    return not any(
        device.boot_index == 0 and device.destination_type == 'volume' for device in move.devices()
    )


class Crossing(part.Part):
    """The steps of a Resize to another cell."""

    move: 'resize.Resize'

    image = part.Of(image_snapshot.Snapshot, IMAGE_NAME, is_wanted=has_a_disk)

    def steps(self) -> saga.Steps:
        """Return all steps of the move."""
        return (*self._promised(), *self._copied(), *self._switched())

    def _promised(self) -> saga.Steps:
        """Return the steps up to the claim on the destination."""
        move = self.move
        return (
            steps.begin(move, later=True),
            steps.hold(move),
            steps.choose(move),
            places.SOURCE_RECORDS.step(steps.RECORD, self.record, move.forget, later=True),
            places.DEST_RECORDS.step(COPY, self.copy, self.drop_copy, clean=duties.copy(move)),
            move.ports.binding(steps.BIND),
            move.volumes.step(),
            move.claiming(),
        )

    def _copied(self) -> saga.Steps:
        """Return the steps that move the guest."""
        move = self.move
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
            move.ports.activating(steps.ACTIVATE),
            places.DEST_HOST.step(
                SPAWN,
                self.spawn,
                move.destroy,
                calls=('finish_snapshot_based_resize_at_dest', 'revert_resize'),
            ),
        )

    def _switched(self) -> saga.Steps:
        """Return the steps that replace the source's record by the destination's."""
        move = self.move
        return (
            places.DEST_RECORDS.step(SHOW, self.show, self.hide_copy, clean=duties.copy(move)),
            places.API_DATABASE.step(SWITCH, self.switch, pivot=True),
            places.SOURCE_RECORDS.step(HIDE, self.hide_source),
            steps.save_spec(move),
            self.image.dropping('delete-snapshot-image', later=True),
            *move.steps_of_attachments(),
            places.DEST_RECORDS.step(
                DELETE,
                self.delete,
                skips=True,
                calls=('discard_guest',),
                title='delete the server if it was deleted',
            ),
        )

    # ---- records in both cells ----

    def record(self) -> None:
        """Record the destination in the source cell."""
        move = self.move
        if not move.world.network.bindings.are_supported(move.ctxt):
            raise NetworkTooOld(extension=bindings.EXTENSION)
        self._record(move.there.read(move.choice.columns))

    @part.transaction
    def _record(self, connection: sa.Connection, columns: rows.Values) -> None:
        move = self.move
        instances.update(
            connection,
            move.instance_uuid,
            {'new_flavor': move.arguments.flavor},
            expect_task=(Task.RESIZE_PREP,),
        )
        migrations.update(connection, move.uuid, {**columns, 'cross_cell_move': True})
        move.events.start_first(connection, PREP_EVENT, move.dest_host)

    def copy(self) -> None:
        """Record the server in the destination cell, hidden and on no host.

        From here on that cell knows about the move. The server's group may forbid it by now.
        """
        move, uuid = self.move, self.move.instance_uuid
        chosen, group, copy = move.destination, move.choice.group(), move.here.copy()
        copy.instance.update(
            hidden=True, host=None, node=None, availability_zone=chosen.availability_zone
        )
        for migration in copy.migrations:
            migration['hidden'] = True
        move.there.write(copies.create, copy, move.uuid)
        if group is not None:
            # Not in the transaction of the copy: two members that arrive at once would miss
            # each other.
            host = chosen.service_host
            move.there.write(group_places.check, uuid, host, group)
            # Members in other cells did not see this move before it was on record there, and
            # the scheduler did not see members in a cell that did not answer.
            group_policies.check_other_cells(
                move.world, group, cell=move.there.cell, host=host, own={uuid}
            )

    def drop_copy(self) -> None:
        self.move.there.purge()

    # ---- the hosts ----

    def queue_image(self) -> Image:
        """Create the image, without data yet."""
        return Image(id=self.image.queue())

    def snapshot(self) -> asking.Reply:
        """Stop the guest and upload its disk."""
        move = self.move
        known = move.note_leaving(PREP_EVENT, SOURCE_EVENT)
        asking.require_up_or_retry(move, move.source_host, known=known)
        prepare = move.compute.prep_snapshot_based_resize_at_source
        asked, image_id = move.at_source(SNAPSHOT), self.results[QUEUE].id
        return asking.answer(prepare(move.ctxt, **asked, image_id=image_id))

    def leave(self) -> asking.Reply:
        """Mark the guest as departed: the source keeps its disks and will not start it."""
        move = self.move
        return move.ask(move.compute.resize_instance, **move.at_source(LEAVE), move=move.uuid)

    def spawn(self) -> asking.Reply:
        return self.move.make_guest(
            self.move.there.compute.finish_snapshot_based_resize_at_dest,
            (SOURCE_EVENT, FINISH_EVENT),
            image_id=self.results[QUEUE].id,
        )

    # ---- from one record to the other ----

    def show(self) -> None:
        """Give the copy its final values, with the user's changes since, and make it visible."""
        move = self.move
        copy = move.here.sealed_copy(move.require_task)
        copy.instance.update(
            move.columns_of_arrival(copy.instance['flavor'], copy.instance['network_info']),
            hidden=False,
            sealed=False,
            availability_zone=move.destination.availability_zone,
            new_flavor=move.arguments.flavor,
        )
        move.there.write(self._show, copy)

    def _show(self, connection: sa.Connection, copy: copies.Copy) -> None:
        move = self.move
        copies.renew(connection, copy)
        move.arrived(connection)
        copies.show(connection, move.instance_uuid, True)
        move.events.end_all(connection)

    def hide_copy(self) -> None:
        """Undo `show`."""
        server_cell.restore(self.move.here, self.move.there)

    def switch(self) -> saga.Data:
        """Map the server to the destination's cell. This is the pivot."""
        return server_cell.switch(self.move, self.move.here, self.move.there)

    @part.transaction
    def hide_source(self, connection: sa.Connection) -> Hidden:
        """Hide the source's record. Return whether the server was being deleted."""
        gone = server_cell.hide(connection, self.move.instance_uuid)
        self.move.events.end_all(connection)
        return Hidden(gone=gone)

    def delete(self) -> saga.Pending | saga.Skipped | None:
        """Delete the server if a user deleted it in the source cell during the switch."""
        move = self.move
        if not self.results[HIDE].gone:
            return saga.Skipped()
        waits = move.ask(move.compute.discard_guest, **move.at_source('discard'), move=move.uuid)
        if isinstance(waits, saga.Pending):
            return waits
        move.allocation.free_source()
        row = move.there.find()
        if row is not None:
            # The record may be deleted already, by an earlier try of this step or by the user.
            neighbours.unbind(move, row.network_info, move.source_host)
            move.there.write(migrations.update, move.uuid, {'status': str(Status.ERROR)})
        server_cell.delete(move, move.there)
        move.here.purge()
        return None
