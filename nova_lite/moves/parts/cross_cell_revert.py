"""Revert a move between cells: the source's record represents the server again.

The mapping is switched before the destination's guest is touched, so from then on requests
reach the original record. The source starts its guest after the destination's is removed.
Source: reference/nova/cross-cell-resize 6.
"""

from collections.abc import Callable

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import copies
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import plugging
from nova_lite.moves import resized
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import progress_records
from nova_lite.moves.parts import volumes as volume_parts

Status = states.MigrationStatus

SHOW = 'show-source-records'
SWITCH = saga.Result('switch-mapping-to-source-cell', saga.Data)
ACTIVATE = saga.Result('activate-source-bindings', steps.Info)
SOURCE_EVENT = 'compute_finish_revert_snapshot_based_resize_at_source'
# Columns that the source's record keeps.
OWN = ('launched_on',)


class Crossing:
    """The steps of a revert whose source is in another cell.

    flavor: function that returns the flavor that the server gets back
    """

    def __init__(
        self,
        scope: scopes.Scope,
        route: scopes.Route,
        *,
        progress: progress_records.Progress,
        volumes: volume_parts.Volumes,
        flavor: Callable[[], saga.Data],
        vm_state: Callable[[], str],
    ) -> None:
        self.scope, self._source, self._events = scope, route.source, progress.events
        self._volumes, self._flavor, self._vm_state = volumes, flavor, vm_state

    def returning(self) -> saga.Steps:
        """Return the steps after which the source's record represents the server."""
        scope = self.scope
        hiding = duties.shown(scope, self._source)
        return (
            places.SOURCE_RECORDS.step(SHOW, self.show, self.hide_source, clean=hiding, later=True),
            places.API_DATABASE.transaction(SWITCH, self.switch, pivot=True),
            places.DEST_RECORDS.step('hide-destination-records', self.hide_dest, later=True),
            places.NETWORK.best_effort(
                ACTIVATE, self.activate, clean=duties.activation(scope), later=True
            ),
        )

    def purging(self) -> saga.Step:
        """Return the last step."""
        return places.DEST_RECORDS.step('remove-destination-records', self.purge_dest)

    def present(self) -> server_cell.ServerCell:
        """Return the ServerCell with the server's visible record."""
        return self._source.cell if SWITCH in self.scope.results else self.scope.here

    def give_up(self, first: str) -> asking.Reply:
        """Remove the guest that the source keeps of a deleted server, which only this saga knows.

        first: id of the saga's first step
        """
        scope, source = self.scope, self._source
        asked = resized.asked(scope, source, f'{first}/discard')
        waits = asking.ask(scope, source.compute.discard_guest, **asked)
        if not isinstance(waits, saga.Pending):
            source.cell.purge()
        return waits

    def show(self) -> None:
        """Give the source's record its former values, with the user's changes since."""
        scope, there = self.scope, self._source.cell
        copy, kept = scope.here.sealed_copy(scope.require_task), there.get()
        copy.instance.update(
            hidden=False,
            sealed=False,
            host=kept.host,
            node=kept.node,
            availability_zone=there.zone(kept.host),
            **move_records.flavor_columns(self._flavor()),
            **{name: getattr(kept, name) for name in OWN},
        )
        there.write(self._show, copy)

    def _show(self, connection: sa.Connection, copy: copies.Copy) -> None:
        scope = self.scope
        copies.renew(connection, copy)
        move_records.change_devices(connection, self._volumes.reserved, None)
        migrations.update(connection, scope.migration_uuid, {'status': str(Status.REVERTING)})
        copies.show(connection, scope.instance_uuid, True)
        self._events.start_first(connection, SOURCE_EVENT, self._source.host)

    def hide_source(self) -> None:
        """Undo `show`."""
        server_cell.restore(self.scope.here, self._source.cell)

    def switch(self, connection: sa.Connection) -> saga.Data:
        """Map the server to the source's cell, where its guest does not run yet."""
        return self._source.cell.take_over(connection, self.scope.here)

    def hide_dest(self) -> None:
        """Hide the destination's record. Repeat a deletion that missed the switch."""
        if self.scope.here.hide():
            self._source.cell.delete()

    def activate(self) -> plugging.Plugged | None:
        scope, row = self.scope, self.scope.find_present()
        if row is None:
            return None
        info = row.network_info
        return plugging.plugged(
            scope,
            self._source.host,
            lambda host: neighbours.activate(scope, info, host),
            is_on=self._vm_state() == states.VmState.ACTIVE,
            may_fail=False,
        )

    def purge_dest(self) -> None:
        self.scope.here.purge()
