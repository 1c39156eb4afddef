"""Revert a resize: the server is on the source again as it was (reference/nova/moves 3.3).

First the guest on the destination is removed, so that the guest never runs twice. A failure
until then leaves the server in VERIFY_RESIZE. Afterwards the saga only goes forward. If the
server is deleted during the revert, the same steps clean up instead of restoring it. For a move
between cells see `parts.cross_cell_revert`.
"""

import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import port_allocations
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import network_info
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import destroying
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import resized
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import cross_cell_revert
from nova_lite.moves.parts import port_resources
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import stored_request
from nova_lite.moves.parts import volumes
from nova_lite.objects import instance as instance_objects
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods.compute import arguments
from nova_lite.saga import journal
from nova_lite.states import transitions

Status = states.MigrationStatus

RESERVE = saga.Result('reserve-volumes-for-source', steps.Reserved)
ACTIVATE = cross_cell_revert.ACTIVATE
DESTROY = 'destroy-on-destination'
FINISH = saga.Result('finish-revert-on-source', answers.Guest)
# A note: the volumes are no longer attached to the destination.
FREED = saga.Result('freed', bool)
# A note: the server has allocations for ports.
HOLDS = saga.Result('holds-for-ports', bool)
DROP = 'drop-destination'
DEST_EVENT = 'compute_revert_resize'
SOURCE_EVENT = 'compute_finish_revert_resize'
STOP_EVENT = 'compute_stop_instance'
# The columns of a server whose guest the source could not restore.
ERROR = {'vm_state': str(states.VmState.ERROR)}


class Began(resized.Ends):
    """flavor: the former flavor, which is restored; None if the server is gone"""

    flavor: saga.Data | None


BEGIN = saga.Result('record-request', Began)


class RevertResize(move.Move[Began]):
    """Return a server in VERIFY_RESIZE to the source.

    If the undo of the first steps fails, a duty cleans up later, see `duties`. Until then the
    server can be confirmed or reverted, which ERROR would prevent.
    """

    kind, also = 'revert-resize', ('cross-cell-revert',)
    first = BEGIN
    harmless = (ACTIVATE, cross_cell_revert.SHOW)
    tasks = transitions.REVERT_RESIZE.tasks

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope = self.scope
        self.crosses = self.kind in self.also
        self.allocation = allocation.Allocation(scope)
        self.stored_request = stored_request.StoredRequest(scope)
        self.resources = port_resources.PortResources(scope)
        self.route = resized.route(scope, lambda: self.began, crosses=self.crosses)
        self.source, self.dest = self.route
        # The server goes back from the destination to the source.
        self.ports = ports.Ports(scope, self.route.back(), lambda: self.began.vm_state)
        self.volumes = volumes.Volumes(
            scope, RESERVE, needless=lambda: self.route.stays, devices=self.devices_to_reserve
        )
        self.crossing = cross_cell_revert.Crossing(
            scope,
            self.route,
            progress=self.progress,
            volumes=self.volumes,
            flavor=lambda: self.former_flavor,
            vm_state=lambda: self.began.vm_state,
        )

    def steps(self) -> saga.Steps:
        first = self.beginning(at=places.DEST_RECORDS, calls=('discard_guest',))
        if self.crosses:
            return (
                first,
                self.volumes.step(),
                *self.crossing.returning(),
                self._destroying(),
                *self._returning(),
                self.crossing.purging(),
            )
        return (
            first,
            self.volumes.step(),
            self.ports.activating(ACTIVATE),
            self._destroying(attempts=places.ATTEMPTS),
            places.SOURCE_RECORDS.step(
                'switch-record-to-source', self.switch, pivot=True, attempts=saga.FOREVER
            ),
            *self._returning(),
        )

    def _destroying(self, **options: typing.Any) -> saga.Step:
        """Return the step that removes the destination's guest. options: of saga.Step"""
        calls = ('revert_resize',)
        return places.DEST_HOST.step(DESTROY, self.destroy, calls=calls, **options)

    def _returning(self) -> saga.Steps:
        """Return the steps after the removal of the destination's guest."""
        return (
            places.SOURCE_HOST.best_effort(
                FINISH, self.finish, calls=('discard_guest', 'restore_guest')
            ),
            places.PLACEMENT.step('return-allocations', self.return_allocations, later=True),
            places.NETWORK.best_effort(
                DROP, self.drop_dest, clean=saga.Clean(self.drop_dest_late, alone=True), later=True
            ),
            self.stored_request.saving_flavor(lambda: self.began.flavor),
            places.SOURCE_RECORDS.step('record-revert', self.record, later=True),
        )

    # ---- the two ends ----

    def _present(self) -> server_cell.ServerCell:
        return self.crossing.present() if self.crosses else self.scope.here

    @property
    def former_flavor(self) -> saga.Data:
        """Return the flavor that the server gets back. Raise InstanceNotFound if it was gone."""
        if self.began.flavor is None:
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return self.began.flavor

    # ---- while the destination has the guest ----

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        flavor = row and (row.old_flavor or row.flavor)
        began = Began.of(connection, self.scope.migration_uuid, flavor=flavor)
        self.events.start_first(connection, DEST_EVENT, began.dest['host'])
        return began

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        if self.crosses:
            instances.seal(connection, self.instance_uuid, False)
        if row is None:
            values = {'status': str(Status.ERROR)}
            migrations.update(connection, self.scope.migration_uuid, values)
        else:
            super().record_undo(connection, row)

    def give_up(self) -> asking.Reply:
        """Undo the begin, and remove the guest that the source keeps of a deleted server.

        Only this saga knows of that guest.
        """
        super().give_up()
        row = self.scope.find_present()
        if row is not None:
            if self.leaving.failure is not None and not self.route.stays:
                neighbours.unbind(self.scope, row.network_info, self.source.host)
            return None
        self.allocation.free_source()
        return self.crossing.give_up(self.first) if self.crosses and self.has_begun else None

    def devices_to_reserve(self) -> server_cell.Devices:
        return [] if self.scope.is_gone() else self.scope.devices()

    def destroy(self) -> asking.Reply:
        """Remove the destination's guest. In a cell, a server that has left this saga keeps it."""
        if not self.crosses:
            waits = destroying.begin(self.scope, self.scope.find_present())
            if waits is not None:
                return waits
        asked = resized.asked(self.scope, self.dest, DESTROY)
        return asking.ask(self.scope, self.dest.compute.revert_resize, **asked)

    # ---- only forward ----

    def switch(self) -> None:
        """Move the record to the source. The guest runs nowhere. This is the pivot."""
        self._switch(self.source.cell.zone(self.source.host))

    @scopes.transaction
    def _switch(self, connection: sa.Connection, zone: str) -> None:
        row = instances.held(connection, self.instance_uuid)
        if row is not None and not instances.is_gone(row):
            values = {
                **self.source.columns,
                'availability_zone': zone,
                **move_records.flavor_columns(self.former_flavor),
                **self.ports.columns(ACTIVATE, row.network_info),
            }
            instances.update(connection, row.uuid, values)
            move_records.change_devices(connection, self.volumes.reserved, None)
        self.events.end(connection, DEST_EVENT, self.dest.host)
        self.events.start_first(connection, SOURCE_EVENT, self.source.host)

    def finish(self) -> asking.Reply:
        row, cell, found = self.scope.find_present(), self.source.cell, None
        if row is not None:
            found = self._restore(cell.compute, row)
            if isinstance(found, saga.Pending):
                return found
        if self.scope.is_gone():
            discard = resized.asked(self.scope, self.source, f'{FINISH}/discard')
            waits = asking.ask(self.scope, cell.compute.discard_guest, **discard)
            return waits if isinstance(waits, saga.Pending) else None
        return found

    def _restore(self, compute: compute_rpc.ComputeAPI, row: rows.Row) -> asking.Reply:
        """Restore the guest of a row, with the current devices of the server.

        The source can connect the volumes only after the destination has released them.
        """
        if FREED not in self.results:
            self.volumes.end_former()
            self.results[FREED] = True
        was_on = self.began.vm_state == states.VmState.ACTIVE
        end = resized.asked(self.scope, self.source, FINISH)
        asking.require_up_or_retry(self.scope, end['host'])
        arrival: arguments.Returning = {
            'node': end['node'],
            'move': end['move'],
            'key': end['key'],
            'power_on': was_on and row.task_state in self.tasks,
        }
        reply = self.volumes.call(
            lambda devices: compute.restore_guest(
                self.ctxt,
                host=end['host'],
                instance=instance_objects.Instance.from_row(row),
                block_devices=devices,
                arrival=arrival,
            ),
            self.source.cell.devices(),
        )
        return asking.answer(reply, end['host'])

    def return_allocations(self) -> None:
        held = self.allocation.release()
        self.results[HOLDS] = port_allocations.are_of_ports(held)

    def drop_dest(self) -> None:
        """Delete bindings and attachments at the destination, and allocations of deleted ports."""
        row = self.scope.find_present()
        self._drop_held()
        if not self.route.stays:
            if row is not None:
                neighbours.unbind(self.scope, row.network_info, self.dest.host)
            self.volumes.end_former()

    def drop_dest_late(self) -> None:
        """Do `drop_dest` after the saga's end, when the server may have moved again."""
        self._drop_held()
        if not self.route.stays:
            duties.drop_bindings(self.scope, self.dest.host)
            self.volumes.end_former()

    def _drop_held(self) -> None:
        """Release the migration's allocations for ports that were deleted during the move."""
        if self.results.get(HOLDS):
            self.resources.release()

    def record(self) -> None:
        """Record the end of the revert, or ERROR if the source could not restore the guest."""
        self.source.cell.write(self._record)

    @scopes.ending
    def _record(self, connection: sa.Connection) -> None:
        failure = self.given_up.get(FINISH)
        status = Status.ERROR if failure else Status.REVERTED
        migrations.update(connection, self.scope.migration_uuid, {'status': str(status)})
        # The row is locked, so that a deletion that is accepted now is not overwritten.
        row = instances.held(connection, self.instance_uuid)
        if row is not None:
            instances.update(connection, row.uuid, self._outcome(row, failure), former=row)
            made = self.results.get(FINISH)
            for device in made.block_devices if made else ():
                move_records.change_connection(connection, device)
        if failure:
            move_records.change_reset(connection, self.instance_uuid, ERROR)
            self.progress.add_fault(connection, failure)
        if self.began.vm_state == states.VmState.STOPPED:
            self.events.record(connection, STOP_EVENT, self.source.host)
        self.events.end_all(connection, failure or self.given_up.get(ACTIVATE))

    def _outcome(self, row: rows.Row, failure: journal.Failure | None) -> saga.Data:
        """Return the server's columns, without changing a deletion or states that were reset."""
        values: saga.Data = {'old_flavor': None, 'new_flavor': None}
        info = self.results.get(ACTIVATE) if self.crosses else None
        if info and not instances.is_gone(row):
            values['network_info'] = network_info.merged(row.network_info, info)
        made = self.results.get(FINISH)
        was_reset = row.task_state is None and row.deleted_at is None
        reverting = row.task_state in self.tasks
        if reverting:
            values['task_state'] = None
        if failure:
            if reverting:
                values |= ERROR
        elif row.vm_state == states.VmState.RESIZED:
            values['vm_state'] = self.began.vm_state
        if made and (was_reset or row.vm_state == states.VmState.RESIZED):
            values['power_state'] = made.power_state
        return values
