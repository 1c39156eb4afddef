"""Revert a move between cells: the source's record represents the server again.

The mapping is switched before the destination's guest is touched, so from then on requests
reach the original record. The source starts its guest after the destination's is removed.
Source: reference/nova/cross-cell-resize 6.
"""

import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import copies
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import plugging
from nova_lite.moves import resized
from nova_lite.moves import server_cell
from nova_lite.moves import steps

if typing.TYPE_CHECKING:
    from nova_lite.moves import revert

Status = states.MigrationStatus

SHOW = 'show-source-records'
SWITCH = saga.Result('switch-mapping-to-source-cell', saga.Data)
ACTIVATE = saga.Result('activate-source-bindings', steps.Info)
SOURCE_EVENT = 'compute_finish_revert_snapshot_based_resize_at_source'
# Columns that the source's record keeps.
OWN = ('launched_on',)


class Crossing(part.Part):
    """The steps of a RevertResize whose source is in another cell."""

    move: 'revert.RevertResize'

    def steps(self) -> saga.Steps:
        """Return all steps of the revert."""
        move = self.move
        return (
            move.beginning(),
            move.volumes.step(),
            places.SOURCE_RECORDS.step(SHOW, self.show, self.hide_source, clean=duties.shown(move)),
            places.API_DATABASE.step(SWITCH, self.switch, pivot=True),
            places.DEST_RECORDS.step('hide-destination-records', self.hide_dest, later=True),
            places.NETWORK.best_effort(
                ACTIVATE, self.activate, clean=duties.activation(move), later=True
            ),
            move.destroying(),
            *move.returning(),
            places.DEST_RECORDS.step('remove-destination-records', self.purge_dest),
        )

    def find(self) -> rows.Row | None:
        """Return the record that represents the server, or None."""
        cell = self.move.source_cell if SWITCH in self.results else self.move.here
        return cell.find()

    def give_up(self) -> asking.Reply:
        """Remove what the source keeps of a deleted server: only this saga knows of it."""
        move = self.move
        if not move.has_begun:
            return None
        asked = resized.asked(move, 'source', f'{move.first}/discard')
        waits = move.ask(move.source_cell.compute.discard_guest, **asked)
        if not isinstance(waits, saga.Pending):
            move.source_cell.purge()
        return waits

    def show(self) -> None:
        """Give the source's record its former values, with the user's changes since."""
        move = self.move
        copy, kept = move.here.sealed_copy(move.require_task), move.source_cell.get()
        copy.instance.update(
            hidden=False,
            sealed=False,
            host=kept.host,
            node=kept.node,
            availability_zone=move.source_cell.zone(kept.host),
            **move_records.flavor_columns(move.former_flavor),
            **{name: getattr(kept, name) for name in OWN},
        )
        move.source_cell.write(self._show, copy)

    def _show(self, connection: sa.Connection, copy: copies.Copy) -> None:
        move = self.move
        copies.renew(connection, copy)
        move_records.change_devices(connection, move.volumes.reserved, None)
        migrations.update(connection, move.migration_uuid, {'status': str(Status.REVERTING)})
        copies.show(connection, move.instance_uuid, True)
        move.events.start_first(connection, SOURCE_EVENT, move.began.source['host'])

    def hide_source(self) -> None:
        """Undo `show`."""
        server_cell.restore(self.move.here, self.move.source_cell)

    def switch(self) -> saga.Data:
        """Map the server to the source's cell, where its guest does not run yet."""
        return server_cell.switch(self.move, self.move.here, self.move.source_cell)

    def hide_dest(self) -> None:
        """Hide the destination's record. Repeat a deletion that missed the switch."""
        if self.move.here.hide():
            server_cell.delete(self.move, self.move.source_cell)

    def activate(self) -> plugging.Plugged | None:
        move, row = self.move, self.move.find_present()
        if row is None:
            return None
        info = row.network_info
        return plugging.plugged(
            move,
            move.began.source['host'],
            lambda host: neighbours.activate(move, info, host),
            may_fail=False,
        )

    def purge_dest(self) -> None:
        self.move.here.purge()
