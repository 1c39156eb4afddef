"""Revert a move between cells: the source's record stands for the server again.

The mapping is switched before the destination's guest is touched, so that from then on
the user deals with the original; the source starts its guest only when the
destination's is gone. Source: reference/nova/cross-cell-resize 6.
"""

from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import crossing
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import resized

Status = states.MigrationStatus

SHOW = 'show source records'
SWITCH = 'switch mapping to source cell'
ACTIVATE = 'activate source bindings'
SOURCE_EVENT = 'compute_finish_revert_snapshot_based_resize_at_source'
# What the source's record keeps of its own.
OWN = ('launched_on',)


class Crossing(part.Part):
    """move: the RevertResize, whose source is in another cell"""

    def steps(self):
        """All steps of the revert."""
        move = self._move
        return (
            move.beginning(),
            move.volumes.step(),
            places.SOURCE_RECORDS.step(SHOW, self.show, self.hide_source, clean=duties.shown(move)),
            places.API_DATABASE.step(SWITCH, self.switch, pivot=True),
            places.DEST_RECORDS.step('hide destination records', self.hide_dest),
            places.NETWORK.step(ACTIVATE, self.activate),
            move.destroying(),
            *move.returning(),
            places.DEST_RECORDS.step('remove destination records', self.purge_dest),
        )

    # ---- the two cells ----

    @property
    def source(self):
        """The cell to which the server returns."""
        return self._move.source_side

    @property
    def dest(self):
        """The cell that has the server when the saga begins."""
        return self._move.here

    def find(self):
        """The record that stands for the server; None when there is none."""
        side = self.source if SWITCH in self._move.data else self.dest
        return side.find(self._move.instance_uuid)

    # ---- while the destination has the server ----

    def give_up(self):
        """Nobody else knows of what the source keeps of a server that is deleted."""
        move = self._move
        if move.first not in move.data:
            return None
        asked = resized.asked(move, 'source', f'{move.first}/discard')
        waits = move.ask(self.source.compute.discard_guest, asked)
        if not isinstance(waits, saga.Pending):
            self.source.purge(move.instance_uuid)
        return waits

    def show(self):
        """The source's record becomes what the server was, with what its user did since."""
        move, uuid = self._move, self._move.instance_uuid
        self.dest.seal(uuid)
        crossing.require_free(self.dest.find(uuid), uuid, move.tasks)
        copy, kept = self.dest.copy(uuid), self.source.get(uuid)
        copy.instance.update(
            hidden=False,
            sealed=False,
            host=kept.host,
            node=kept.node,
            availability_zone=resized.zone(move, kept.host),
            **move_records.flavor_columns(move.began['flavor']),
            **{name: getattr(kept, name) for name in OWN},
        )
        self.source.write(self._show, copy)

    def _show(self, connection, copy):
        move = self._move
        copies.renew(connection, copy)
        move_records.change_devices(connection, move.volumes.reserved, None)
        migrations.update(connection, move.migration_uuid, {'status': str(Status.REVERTING)})
        copies.show(connection, move.instance_uuid, True)
        move.start_event(connection, SOURCE_EVENT, move.began['source']['host'])

    def hide_source(self):
        """Undo of `show`. First of all the server: the other cell may be away for long."""
        self.dest.seal(self._move.instance_uuid, False)
        self.source.hide(self._move.instance_uuid)

    def switch(self):
        """From here on the server is the source's; nobody runs it yet."""
        return crossing.switch(self._move, self.dest, self.source)

    # ---- only forward ----

    def hide_dest(self):
        """A deletion that came too late for the switch is made good at the source."""
        if self.dest.hide(self._move.instance_uuid):
            crossing.delete(self._move, self.source)

    def activate(self):
        move, row = self._move, self.find()
        if instances.is_gone(row):
            return None
        host = move.began['source']['host']
        return neighbours.activate(move.world, move.ctxt, row.uuid, row.network_info, host)

    def purge_dest(self):
        self.dest.purge(self._move.instance_uuid)
