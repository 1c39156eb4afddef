"""Resize and cold migrate to another cell, up to VERIFY_RESIZE.

The steps and their order are those of reference/nova/cross-cell-resize 4: the disk is copied
before the guest leaves, and the guest leaves the source before it is created on the
destination. A failure before the switch leaves the server as it was.
"""

from collections.abc import Callable

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
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import arrival as arrivals
from nova_lite.moves.parts import choice as choices
from nova_lite.moves.parts import departure as departures
from nova_lite.moves.parts import image_snapshot
from nova_lite.moves.parts import progress_records

Task = states.TaskState
Status = states.MigrationStatus


class Image(saga.Value):
    """The image through which the disk is copied. id: None if the server has no disk"""

    id: str | None


class Hidden(saga.Value):
    """A hidden record. gone: whether the server was being deleted when it was hidden"""

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


class Crossing:
    """The steps that only a resize to another cell has."""

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        choice: choices.Choice,
        *,
        progress: progress_records.Progress,
        departure: departures.Departure,
        arrival: arrivals.Arrival,
    ) -> None:
        self.scope, self._events = scope, progress.events
        self._source, self._dest, self._choice = route.source, route.dest, choice
        self._departure, self._arrival = departure, arrival
        self._image = image_snapshot.Snapshot(scope, IMAGE_NAME, is_wanted=self._has_a_disk)

    def _has_a_disk(self) -> bool:
        """Return whether the server does not boot from a volume."""
        return not any(
            device.boot_index == 0 and device.destination_type == 'volume'
            for device in self.scope.devices()
        )

    def recording(self, forget: saga.Effect) -> saga.Steps:
        """Return the steps that record the destination in both cells.

        forget: undo of the first step
        """
        clean = duties.copy(self.scope, self._dest)
        return (
            places.SOURCE_RECORDS.step(steps.RECORD, self.record, forget, later=True),
            self._choice.recording(
                COPY,
                self.copy,
                self.drop_copy,
                dest=self._dest,
                at=places.DEST_RECORDS,
                clean=clean,
            ),
        )

    def claiming(self) -> saga.Step:
        """Return the step that claims resources on the destination."""
        return self._arrival.claiming()

    def leaving(self) -> saga.Steps:
        """Return the steps that copy the disk and stop the guest."""
        return (
            self._image.step(QUEUE, self.queue_image),
            places.SOURCE_HOST.step(
                SNAPSHOT,
                self.snapshot,
                self._departure.take_back,
                calls=(
                    'discard_guest',
                    'finish_revert_resize',
                    'prep_snapshot_based_resize_at_source',
                ),
            ),
            places.SOURCE_HOST.step(LEAVE, self.leave, calls=('resize_instance',)),
        )

    def arriving(self) -> saga.Steps:
        """Return the steps that create the guest and replace the source's record."""
        clean = duties.copy(self.scope, self._dest)
        return (
            places.DEST_HOST.step(
                SPAWN,
                self.spawn,
                self._arrival.destroy,
                calls=('finish_snapshot_based_resize_at_dest', 'revert_resize'),
            ),
            places.DEST_RECORDS.step(SHOW, self.show, self.hide_copy, clean=clean, later=True),
            places.API_DATABASE.transaction(SWITCH, self.switch, pivot=True),
            places.SOURCE_RECORDS.step(HIDE, self.hide_source, later=True),
        )

    def dropping_image(self) -> saga.Step:
        """Return the step that deletes the image of the disk."""
        return self._image.dropping('delete-snapshot-image', later=True)

    def ending(self, free_source: Callable[[], None]) -> saga.Step:
        """Return the last step, which repeats a deletion that missed the switch.

        free_source: function that deletes the allocation on the source
        """
        return places.DEST_RECORDS.step(
            DELETE,
            lambda: self._delete(free_source),
            skips=True,
            calls=('discard_guest',),
            title='delete the server if it was deleted',
        )

    # ---- records in both cells ----

    def record(self) -> None:
        """Record the destination in the source cell."""
        scope = self.scope
        if not scope.world.network.bindings.are_supported(scope.ctxt):
            raise NetworkTooOld(extension=bindings.EXTENSION)
        self._record(self._dest.cell.read(self._choice.columns))

    @scopes.transaction
    def _record(self, connection: sa.Connection, columns: rows.Values) -> None:
        scope = self.scope
        instances.update(
            connection,
            scope.instance_uuid,
            {'new_flavor': self._arrival.guest.flavor},
            expect_task=(Task.RESIZE_PREP,),
        )
        migrations.update(connection, scope.uuid, {**columns, 'cross_cell_move': True})
        self._events.start_first(connection, PREP_EVENT, self._dest.host)

    def copy(self) -> None:
        """Record the server in the destination cell, hidden and on no host.

        From this step on that cell knows about the move. The server's group may forbid the move by
        now.
        """
        scope, there, uuid = self.scope, self._dest.cell, self.scope.instance_uuid
        chosen, group, copy = self._choice.found, self._choice.group(), scope.here.copy()
        copy.instance.update(
            hidden=True, host=None, node=None, availability_zone=chosen.availability_zone
        )
        for migration in copy.migrations:
            migration['hidden'] = True
        there.write(copies.create, copy, scope.uuid)
        if group is not None:
            # This is not in the transaction of the copy: two members that arrive at the same time
            # would not see each other.
            host = chosen.service_host
            there.write(group_places.check, uuid, host, group)
            # Members in other cells did not see this move before it was recorded there, and
            # the scheduler did not see members in a cell that did not answer.
            group_policies.check_other_cells(
                scope.world, group, cell=there.cell, host=host, own={uuid}
            )

    def drop_copy(self) -> None:
        self._dest.cell.purge()

    # ---- the hosts ----

    def queue_image(self) -> Image:
        """Create the image, without data yet."""
        return Image(id=self._image.queue())

    def snapshot(self) -> asking.Reply:
        """Stop the guest and upload its disk."""
        scope, source = self.scope, self._source
        known = self._departure.note(PREP_EVENT, SOURCE_EVENT)
        asking.require_up_or_retry(scope, source.host, known=known)
        prepare = source.compute.prep_snapshot_based_resize_at_source
        asked, image_id = source.asked(SNAPSHOT), scope.results[QUEUE].id
        return asking.answer(prepare(scope.ctxt, **asked, image_id=image_id), source.host)

    def leave(self) -> asking.Reply:
        """Mark the guest as departed: the source keeps its disks and will not start it."""
        asked, uuid = self._source.asked(LEAVE), self.scope.uuid
        return asking.ask(self.scope, self._source.compute.resize_instance, **asked, move=uuid)

    def spawn(self) -> asking.Reply:
        return self._arrival.make(
            self._dest.compute.finish_snapshot_based_resize_at_dest,
            (SOURCE_EVENT, FINISH_EVENT),
            image_id=self.scope.results[QUEUE].id,
        )

    # ---- from one record to the other ----

    def show(self) -> None:
        """Give the copy its final values, with the user's changes since, and make it visible."""
        copy = self.scope.here.sealed_copy(self.scope.require_task)
        copy.instance.update(
            self._arrival.columns(copy.instance['flavor'], copy.instance['network_info']),
            hidden=False,
            sealed=False,
            availability_zone=self._choice.found.availability_zone,
            new_flavor=self._arrival.guest.flavor,
        )
        self._dest.cell.write(self._show, copy)

    def _show(self, connection: sa.Connection, copy: copies.Copy) -> None:
        copies.renew(connection, copy)
        self._arrival.record(connection)
        copies.show(connection, self.scope.instance_uuid, True)
        self._events.end_all(connection)

    def hide_copy(self) -> None:
        """Undo `show`."""
        server_cell.restore(self.scope.here, self._dest.cell)

    def switch(self, connection: sa.Connection) -> saga.Data:
        """Map the server to the destination's cell. This is the pivot."""
        return self._dest.cell.take_over(connection, self.scope.here)

    @scopes.transaction
    def hide_source(self, connection: sa.Connection) -> Hidden:
        """Hide the source's record. Return whether the server was being deleted."""
        gone = server_cell.hide(connection, self.scope.instance_uuid)
        self._events.end_all(connection)
        return Hidden(gone=gone)

    def _delete(self, free_source: Callable[[], None]) -> saga.Pending | saga.Skipped | None:
        """Delete the server if a user deleted it in the source cell during the switch."""
        scope, there = self.scope, self._dest.cell
        hidden = scope.results.get(HIDE)
        if hidden is None or not hidden.gone:
            return saga.Skipped()
        waits = self._departure.discard('discard')
        if isinstance(waits, saga.Pending):
            return waits
        free_source()
        row = there.find()
        if row is not None:
            # The record may be deleted already, by an earlier try of this step or by the user.
            neighbours.unbind(scope, row.network_info, self._source.host)
            there.write(migrations.update, scope.uuid, {'status': str(Status.ERROR)})
        there.delete()
        scope.here.purge()
        return None
