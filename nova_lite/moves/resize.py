"""Resize and cold migrate, up to VERIFY_RESIZE (reference/nova/moves 3.1).

The server's record stays on the source until the guest is on the destination. A failure
before that is undone and leaves the server as it was. The pivot is the transaction that
switches the record. The source keeps its disks for a revert. The scheduler may choose a
destination in another cell: see `parts.cross_cell`.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import arrival
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import cross_cell
from nova_lite.moves.parts import departure
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import stored_request
from nova_lite.moves.parts import volumes
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import instance_group
from nova_lite.objects import request_spec
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

Began = steps.Began
Task = states.TaskState
Status = states.MigrationStatus
Type = states.MigrationType

LEAVE = departure.LEAVE
FINISH = saga.Result('finish-on-destination', answers.Guest)
PREP_EVENT = 'compute_prep_resize'
SOURCE_EVENT = 'compute_resize_instance'
FINISH_EVENT = 'compute_finish_resize'
EVENTS = ('conductor_migrate_server', 'cold_migrate')
# A name for a cell other than the server's, to list the steps of a move between cells.
ANOTHER = '00000000-0000-0000-0000-000000000000'
# The kinds that may go to another cell.
PREFIX = 'cross-cell-'
ACROSS = (f'{PREFIX}resize', f'{PREFIX}migrate')
# The id of the step whose result says where the server goes.
CHOSEN = steps.CHOOSE


class Arguments(scopes.Arguments):
    """flavor: the new flavor, as plain values"""

    flavor: saga.Data


class Resize(move.Move[Began]):
    """Move a server to another flavor and usually another host; a migration keeps the flavor."""

    arguments: Arguments
    kind, also = 'resize', ('migrate', *ACROSS)
    version, former_versions = 2, (1,)
    first = steps.MIGRATION
    tasks = transitions.RESIZE.tasks
    refusable = (steps.RECORD, cross_cell.COPY, steps.BIND, steps.RESERVE, steps.CLAIM)
    harmless = (steps.RECORD, cross_cell.COPY, cross_cell.SHOW)
    ways = (saga.Way(), saga.Way(data={steps.CHOOSE: {'cell_uuid': ANOTHER}}))

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope = self.scope
        self.allocation = allocation.Exchange(scope)
        self.stored_request = stored_request.StoredRequest(scope)
        self.choice = choice.Choice(
            scope,
            self.allocation,
            self.arguments,
            adapt=self._adapt,
            may_retry=not self.arguments.host,
            refusable=self.refusable,
        )
        self.dest = self.choice.end(self._there)
        self.route = route = scopes.Route(self.source, self.dest)
        self.ports = ports.Ports(scope, route, lambda: self.began.vm_state)
        self.volumes = volumes.Volumes(
            scope, steps.RESERVE, dest=self.dest, needless=lambda: route.stays
        )
        self.departure = departure.Departure(scope, route, self.progress, FINISH)
        self.arrival = self._arrival(arrival.New(FINISH, self.arguments.flavor))
        self.crossing = self._crossing()

    def _arrival(self, guest: arrival.New) -> arrival.Arrival:
        return arrival.Arrival(
            self.scope, self.route, self.progress, guest, ports=self.ports, volumes=self.volumes
        )

    def _crossing(self) -> cross_cell.Crossing:
        scope, made = self.scope, cross_cell.SPAWN
        guest = arrival.New(made, self.arguments.flavor, is_elsewhere=True)
        return cross_cell.Crossing(
            scope,
            self.route,
            self.choice,
            progress=self.progress,
            departure=departure.Departure(scope, self.route, self.progress, made),
            arrival=self._arrival(guest),
        )

    def steps(self) -> saga.Steps:
        return self._steps_across() if self.crosses else self._steps()

    def _steps(self) -> saga.Steps:
        return (
            self.beginning(later=True),
            *self.allocation.holding(former=self.version == 1),
            self.choice.choosing(),
            self.choice.recording(steps.RECORD, self.record, self.forget, dest=self.dest),
            self.ports.binding(steps.BIND),
            self.volumes.step(),
            self.arrival.claiming(),
            places.SOURCE_HOST.step(
                LEAVE,
                self.leave,
                self.departure.take_back,
                calls=('discard_guest', 'finish_revert_resize', 'resize_instance'),
            ),
            self.ports.activating(steps.ACTIVATE),
            places.DEST_HOST.step(
                FINISH, self.finish, self.arrival.destroy, calls=('finish_resize', 'revert_resize')
            ),
            places.SOURCE_RECORDS.step(
                'switch-record-to-destination', self.switch, pivot=True, later=True
            ),
            self.stored_request.saving_flavor(lambda: self.arguments.flavor),
            *self._ending_attachments(FINISH),
        )

    def _steps_across(self) -> saga.Steps:
        """Return the steps of a move to another cell."""
        crossing = self.crossing
        return (
            self.beginning(later=True),
            *self.allocation.holding(former=self.version == 1),
            self.choice.choosing(),
            *crossing.recording(self.forget),
            self.ports.binding(steps.BIND),
            self.volumes.step(),
            crossing.claiming(),
            *crossing.leaving(),
            self.ports.activating(steps.ACTIVATE),
            *crossing.arriving(),
            self.stored_request.saving_flavor(lambda: self.arguments.flavor),
            crossing.dropping_image(),
            *self._ending_attachments(cross_cell.SPAWN),
            crossing.ending(self.allocation.free_source),
        )

    def _ending_attachments(self, made: saga.Result[answers.Guest]) -> saga.Steps:
        """Return the step that ends the source's attachments, if any may exist.

        made: the step that creates the guest on the destination
        """
        if made in self.results and not self.volumes.reserved:
            return ()
        return (self.volumes.settling(steps.FORMER),)

    def go_back(self, step: saga.Step, error: Exception) -> str | None:
        return self.choice.go_back(step, error)

    # ---- the destination ----

    @property
    def crosses(self) -> bool:
        """Return whether the chosen destination is in another cell."""
        if self.kind not in ACROSS or steps.CHOOSE not in self.results:
            return False
        return self.choice.found.cell_uuid != self.arguments.cell

    def _there(self) -> server_cell.ServerCell:
        """Return the ServerCell of the destination."""
        if not self.crosses:
            return self.scope.here
        return self.scope.side(self.world.cells.get(self.choice.found.cell_uuid))

    def _adapt(self, spec: request_spec.RequestSpec, beside: Collection[str]) -> None:
        """Change the server's request for the scheduler."""
        spec.flavor = flavor_objects.Flavor(**self.arguments.flavor)
        # A host from which the server was evacuated cleans up by the records of its own cell.
        # nova's moves between cells do not support resource requests of ports.
        may_cross = self.kind in ACROSS and not beside and not spec.requested_resources
        spec.destination().allow_cross_cell_move = may_cross

    # ---- record the migration ----

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        row = self.scope.require_there(row)
        if migrations.find(connection, self.uuid) is None:
            migrations.create(
                connection,
                {
                    'uuid': self.uuid,
                    'instance_uuid': row.uuid,
                    'migration_type': str(
                        Type.MIGRATION if self.kind.endswith('migrate') else Type.RESIZE
                    ),
                    'status': str(Status.PRE_MIGRATING),
                    'source_compute': row.host,
                    'source_node': row.node,
                    'old_instance_type_id': row.flavor['id'],
                    'new_instance_type_id': self.arguments.flavor['id'],
                    'old_vm_state': row.vm_state,
                    'user_id': self.ctxt.user_id,
                    'project_id': self.ctxt.project_id,
                },
            )
        for event in EVENTS:
            self.events.start_first(connection, event)
        return Began.of(row)

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        if self.kind in ACROSS:
            instances.seal(connection, self.instance_uuid, False)
        if migrations.find(connection, self.uuid) is not None:
            made = cross_cell.SPAWN if self.crosses else FINISH
            values = {'status': str(Status.ERROR), **self.choice.columns_of_failure(made)}
            migrations.update(connection, self.uuid, values)
        if row is not None and steps.RECORD in self.not_undone:
            move_records.forget_destination(connection, row.uuid, self.began.zone)

    # ---- a destination that keeps the server, as in nova ----

    @property
    def _stays_there(self) -> bool:
        """Return whether the destination keeps the server after its failure."""
        failure = self.leaving.failure
        return failure is not None and steps.CLAIM in failure.keeps

    # The connections of volumes to that destination.
    _connected: Sequence[saga.Data] = ()

    def give_up(self) -> asking.Reply:
        """Undo the begin. A destination that keeps the server has its ports and volumes."""
        if self._stays_there:
            for settle in (
                self.allocation.free_source,
                self._take_over,
                self.volumes.end_former,
                self._leave_source,
            ):
                self._settle(settle)
        return super().give_up()

    def _settle(self, settle: Callable[[], None]) -> None:
        """Call a service, whose refusal must not keep the server's task. `verify` shows it."""
        try:
            settle()
        except (exception.NeighbourError, exception.NeighbourForbids) as error:
            LOG.warning('Saga %s leaves what a service refuses to change: %s', self.uuid, error)

    def _take_over(self) -> None:
        self._connected = self.volumes.take_over()

    def _leave_source(self) -> None:
        row = self.scope.find_present()
        if row is not None and not self.route.stays:
            neighbours.unbind(self.scope, row.network_info, self.source.host)

    def record_left(self, connection: sa.Connection, row: rows.Row) -> saga.Data:
        if not self._stays_there:
            return {'new_flavor': None}
        move_records.change_devices(connection, self.volumes.reserved, self._connected)
        return {
            **self.ports.columns(steps.ACTIVATE, row.network_info),
            **self.dest.columns,
            'new_flavor': None,
        }

    # ---- record destination ----

    def record(self) -> None:
        """Record the destination, unless the server's group forbids it by now."""
        self._record(self.choice.group())

    @scopes.transaction
    def _record(self, connection: sa.Connection, group: instance_group.Group | None) -> None:
        zone = self.choice.found.availability_zone
        changes = {'new_flavor': self.arguments.flavor, 'availability_zone': zone}
        self.choice.admit(connection, group, changes=changes, tasks=(Task.RESIZE_PREP,))
        self.events.start_first(connection, PREP_EVENT, self.dest.host)

    @scopes.transaction
    def forget(self, connection: sa.Connection) -> None:
        """Undo `record`. The migration keeps the destination unless it gets another."""
        row = instances.find(connection, self.instance_uuid)
        if row is not None and not row.deleted:
            move_records.forget_destination(connection, row.uuid, self.began.zone)
        if self.going_back:
            event = cross_cell.PREP_EVENT if self.crosses else PREP_EVENT
            self.events.end_refused(connection, event, self.dest.host)
            migrations.update(connection, self.uuid, migrations.NOWHERE)

    # ---- the hosts ----

    def leave(self) -> asking.Reply:
        """Stop the guest on the source."""
        known = self.departure.note(PREP_EVENT, SOURCE_EVENT)
        asked = {**self.source.asked(LEAVE), 'move': self.uuid}
        return asking.ask(self.scope, self.scope.compute.resize_instance, known=known, **asked)

    def finish(self) -> asking.Reply:
        handover = self.results[LEAVE].handover
        events = (SOURCE_EVENT, FINISH_EVENT)
        return self.arrival.make(self.scope.compute.finish_resize, events, handover=handover)

    # ---- the pivot and what follows it ----

    @scopes.transaction
    def switch(self, connection: sa.Connection) -> None:
        """Move the record to the destination, in VERIFY_RESIZE. This is the pivot."""
        if migrations.get(connection, self.uuid).status == Status.FINISHED:
            return
        row = instances.hold(connection, self.instance_uuid)
        instances.update(
            connection,
            row.uuid,
            self.arrival.columns(row.flavor, row.network_info),
            former=row,
            expect_task=(Task.RESIZE_FINISH,),
            expect_host=(self.began.host,),
        )
        self.arrival.record(connection)
        self.events.end_all(connection)
