"""Revert a move between cells: the source's record stands for the server again.

The mapping is switched before the destination's guest is touched, so that from then on
the user deals with the original; the source starts its guest only when the
destination's is gone. Source: reference/nova/cross-cell-resize 6.
"""

from nova_lite import saga
from nova_lite import states
from nova_lite.db.api import aggregates
from nova_lite.db.cell import actions
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import crossing
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import resized
from nova_lite.moves import revert
from nova_lite.moves import steps

Task = states.TaskState
Status = states.MigrationStatus

SHOW = 'show source records'
SWITCH = 'switch mapping to source cell'
ACTIVATE = 'activate source bindings'
SOURCE_EVENT = 'compute_finish_revert_snapshot_based_resize_at_source'
# What the source's record keeps of its own.
OWN = ('launched_on',)


class CrossCellRevert(revert.RevertResize):
    """From VERIFY_RESIZE in the destination cell back to the source."""

    kind = 'cross-cell-revert'
    harmless = (*revert.RevertResize.harmless, SHOW)

    def steps(self):
        return (
            steps.begin(self, at=places.DEST_RECORDS, calls=('discard_guest',)),
            self.volumes.step(),
            saga.Step(
                SHOW,
                self.show,
                undo=self.hide_source,
                clean=duties.shown(self),
                at=places.SOURCE_RECORDS,
            ),
            saga.Step(SWITCH, self.switch_cell, pivot=True, at=places.API_DATABASE),
            saga.Step('hide destination records', self.hide_dest, at=places.DEST_RECORDS),
            saga.Step(ACTIVATE, self.activate, at=places.NETWORK),
            saga.Step(revert.DESTROY, self.destroy, at=places.DEST_HOST, calls=('revert_resize',)),
            steps.patient(
                revert.FINISH,
                self.finish,
                at=places.SOURCE_HOST,
                calls=('discard_guest', 'restore_guest'),
            ),
            saga.Step('give allocations back', self.give_back, at=places.PLACEMENT),
            steps.patient(
                revert.DROP,
                self.drop_dest,
                clean=saga.Clean(self.drop_dest_late, alone=True),
                at=places.NETWORK,
            ),
            steps.save_spec(self),
            saga.Step('record the revert', self.record, at=places.SOURCE_RECORDS),
            saga.Step('remove destination records', self.purge_dest, at=places.DEST_RECORDS),
        )

    # ---- the two cells ----

    @property
    def source_side(self):
        """The cell to which the server returns."""
        cell = self.world.cells.of_host(self.began['source']['host'])
        return crossing.Side(self.world, cell, self.ctxt)

    @property
    def dest_side(self):
        """The cell that has the server when the saga begins."""
        return crossing.Side(self.world, self.cell, self.ctxt)

    @property
    def switched(self):
        """Whether the source's record stands for the server."""
        return SWITCH in self.data

    def current(self):
        """The record that stands for the server; None when there is none."""
        side = self.source_side if self.switched else self.dest_side
        return side.find(self.instance_uuid)

    def is_gone(self):
        return instances.is_gone(self.current())

    # ---- while the destination has the server ----

    def give_up(self):
        """Also for a server that is deleted: nobody else knows of what the source keeps."""
        super().give_up()
        if not self.is_gone() or self.first not in self.data:
            return None
        waits = self.ask(
            self.source_side.compute.discard_guest,
            resized.asked(self, 'source', f'{self.first}/discard'),
        )
        if not isinstance(waits, saga.Pending):
            self.source_side.purge(self.instance_uuid)
        return waits

    def undone(self, connection, row):
        instances.seal(connection, self.instance_uuid, False)
        super().undone(connection, row)

    def show(self):
        """The source's record becomes what the server was, with what its user did since."""
        self.dest_side.seal(self.instance_uuid)
        crossing.require_free(
            self.dest_side.find(self.instance_uuid), self.instance_uuid, self.tasks
        )
        copy = self.dest_side.copy(self.instance_uuid)
        kept = self.source_side.get(self.instance_uuid)
        zone = self.world.api_db.read(aggregates.zones).get(kept.host)
        copy.instance.update(
            hidden=False,
            sealed=False,
            host=kept.host,
            node=kept.node,
            availability_zone=zone or self.world.conf.default_availability_zone,
            **move_records.flavor_columns(self.began['flavor']),
            **{name: getattr(kept, name) for name in OWN},
        )
        self.source_side.write(self._show, copy)

    def _show(self, connection, copy):
        copies.renew(connection, copy)
        move_records.change_devices(connection, self.volumes.reserved, None)
        migrations.update(connection, self.migration_uuid, {'status': str(Status.REVERTING)})
        copies.show(connection, self.instance_uuid, True)
        host = self.began['source']['host']
        actions.start_event(
            connection, self.instance_uuid, self.ctxt.request_id, SOURCE_EVENT, host
        )

    def hide_source(self):
        """Undo of `show`. First of all the server: the other cell may be away for long."""
        self.dest_side.seal(self.instance_uuid, False)
        self.source_side.hide(self.instance_uuid)

    def switch_cell(self):
        """From here on the server is the source's; nobody runs it yet."""
        return crossing.switch(self, self.dest_side, self.source_side)

    # ---- only forward ----

    def hide_dest(self):
        """A deletion that came too late for the switch is made good at the source."""
        if self.dest_side.hide(self.instance_uuid):
            crossing.delete(self, self.source_side)

    def activate(self):
        row = self.current()
        if instances.is_gone(row):
            return None
        return neighbours.activate(
            self.world, self.ctxt, row.uuid, row.network_info, self.began['source']['host']
        )

    def finish(self):
        """finish_revert_resize: the source has the guest again, as it was."""
        row, side, found = self.current(), self.source_side, None
        if not instances.is_gone(row):
            found = self.restore(side.compute, row, side.devices(row.uuid))
            if isinstance(found, saga.Pending):
                return found
        if self.is_gone():
            discard = resized.asked(self, 'source', f'{revert.FINISH}/discard')
            return self.ask(side.compute.discard_guest, discard)
        return found

    def drop_dest(self):
        """The ports' bindings and the attachments that the destination had."""
        row = self.current()
        if not instances.is_gone(row):
            host = self.began['dest']['host']
            neighbours.unbind(self.world, self.ctxt, row.network_info, host)
        self.volumes.end_former()

    def record(self):
        self.source_side.write(self._record_source)

    def _record_source(self, connection):
        self._record(connection)
        row = instances.find(connection, self.instance_uuid)
        if self.data.get(ACTIVATE) and not instances.is_gone(row):
            instances.update(connection, row.uuid, {'network_info': self.data[ACTIVATE]})

    def purge_dest(self):
        self.dest_side.purge(self.instance_uuid)
