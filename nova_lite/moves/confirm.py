"""Confirm a resize: the source removes the server (reference/nova/moves 3.2 and 3.4).

After a move between cells the source is in another cell, whose hidden records of the server
are purged (reference/nova/cross-cell-resize 5 and 7).

The first transaction is the pivot, because a guest that the source has dropped cannot be
restored. If the source is down, its audit removes the guest once the host is back. A source that is
not heard, because its cell receives no heartbeats, is awaited.
"""

import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import resized
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import allocation

LOG = log.getLogger(__name__)

Task = states.TaskState
BEGIN = saga.Result('record-request', resized.Ends)
CLEAN = 'clean-up-at-source'
EVENT = 'compute_confirm_resize'


class Arguments(scopes.Arguments):
    """delete: confirm because the server is being deleted, and delete it afterwards

    keep: with `delete`: soft-delete the server, so that it can be restored
    """

    VERSION = 2
    delete: bool = False
    keep: bool = False


class ConfirmResize(move.Move[resized.Ends]):
    """Confirm a resize, at the user's request or before the server is deleted."""

    arguments: Arguments
    first = BEGIN
    kind, also = 'confirm-resize', ('cross-cell-confirm',)
    ways = (saga.Way(), saga.Way({'delete': True}))

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.crosses = self.kind in self.also
        self.allocation = allocation.Allocation(self.scope)
        self.source = resized.route(self.scope, lambda: self.began, crosses=self.crosses).source

    def steps(self) -> saga.Steps:
        # The source is not called again after its records were removed.
        purge = places.SOURCE_RECORDS.step('remove-source-records', self.purge, later=True)
        last = places.DEST_HOST.step('delete-server', self.delete)
        return (
            self.beginning(at=places.DEST_RECORDS, pivot=True),
            places.SOURCE_HOST.best_effort(
                CLEAN, self.clean, later=True, skips=True, calls=('confirm_resize',)
            ),
            places.NETWORK.best_effort(
                'drop-source-bindings',
                self.unbind,
                clean=saga.Clean(self.unbind_late, alone=True),
                later=True,
                skips=True,
            ),
            places.PLACEMENT.step(
                'release-source-allocation', self.allocation.free_source, later=not self.crosses
            ),
            *((purge,) if self.crosses else ()),
            places.DEST_RECORDS.step('record-confirmation', self.record),
            *((last,) if self.arguments.delete or self.arguments.keep else ()),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> resized.Ends:
        began = resized.Ends.of(connection, self.scope.migration_uuid)
        self.events.start_first(connection, EVENT, began.source['host'])
        if self.arguments.keep and row is not None and row.task_state == Task.SOFT_DELETING:
            instances.update(connection, row.uuid, {'deleted_at': runtime.naive_now()})
        return began

    def clean(self) -> asking.Reply | saga.Skipped:
        """Remove the guest that the source keeps, unless the source is down.

        Such a host is not awaited, because it may be down for long: a server whose state was reset
        can be evacuated at once. The audits of the host remove the guest: `compute.audit`, or
        `compute.move_audit` if the server is on that host.
        """
        cell, asked = self.source.cell, resized.asked(self.scope, self.source, CLEAN)
        known = cell.read(asking.services_of, [asked['host']])
        if asking.is_down(self.scope, known[asked['host']]):
            LOG.info(
                'Confirming resize %s without its source %s, which is down',
                self.scope.migration_uuid,
                asked['host'],
            )
            return saga.Skipped()
        return asking.ask(self.scope, cell.compute.confirm_resize, known=known, **asked)

    def unbind(self) -> saga.Skipped | None:
        """Delete the bindings of the ports to the source, unless the server is there or gone."""
        if not self.scope.has_ports():
            return saga.Skipped()
        row, host = self.scope.find(), self.source.host
        if row is None or row.deleted or row.host == host or not row.network_info:
            return saga.Skipped()
        neighbours.unbind(self.scope, row.network_info, host)
        return None

    def unbind_late(self) -> None:
        """Delete the bindings after the saga's end, when the server may have moved again."""
        duties.drop_bindings(self.scope, self.source.host)

    def purge(self) -> None:
        """Remove the hidden records, which a revert would make visible again.

        A server that was reset by a former release may have returned to the source's cell.
        """
        if self.source.cell.cell.uuid != self.scope.here.cell.uuid:
            self.source.cell.purge()

    @scopes.transaction
    @scopes.ending
    def record(self, connection: sa.Connection) -> None:
        """Record the server as ACTIVE or STOPPED, with its new flavor."""
        migrations.update(
            connection, self.scope.migration_uuid, {'status': str(states.MigrationStatus.CONFIRMED)}
        )
        row = instances.held(connection, self.instance_uuid)
        if row is not None:
            values: saga.Data = {'old_flavor': None, 'new_flavor': None}
            if row.vm_state == states.VmState.RESIZED:
                off = row.power_state == states.PowerState.SHUTDOWN
                values['vm_state'] = str(states.VmState.STOPPED if off else states.VmState.ACTIVE)
            instances.update(connection, row.uuid, values, former=row)
        failure = None if self.leaving.failure is None else self.given_up.get(CLEAN)
        if failure is not None:
            self.leaving.settle(connection, row, failure)
        self.events.end_all(connection, failure)

    def delete(self) -> None:
        """Continue the deletion that confirmed the resize."""
        if self.arguments.keep:
            self.scope.here.soft_delete()
        else:
            self.scope.here.delete()
