"""Resize and cold migrate, up to VERIFY_RESIZE (reference/nova/moves 3.1).

The server's record stays on the source until the guest is on the destination. A failure
before that is undone and leaves the server as it was. The pivot is the transaction that
switches the record. The source keeps its disks for a revert. The scheduler may choose a
destination in another cell: see `parts.cross_cell`.
"""

from collections.abc import Collection
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import cross_cell
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import volumes
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import instance_group
from nova_lite.objects import request_spec

Began = steps.Began
Task = states.TaskState
Status = states.MigrationStatus
Type = states.MigrationType

LEAVE = saga.Result('resize-at-source', answers.Departed, secret=True)
FINISH = saga.Result('finish-on-destination', answers.Guest)
PREP_EVENT = 'compute_prep_resize'
SOURCE_EVENT = 'compute_resize_instance'
FINISH_EVENT = 'compute_finish_resize'
EVENTS = ('conductor_migrate_server', 'cold_migrate')
# Stands for another cell than the server's, to list the steps of a move between cells.
ANOTHER = '00000000-0000-0000-0000-000000000000'
# The kinds that may go to another cell.
ACROSS = ('cross-cell-resize', 'cross-cell-migrate')


class Arguments(move.Arguments):
    """flavor: the new one, as plain values"""

    flavor: saga.Data


class Resize(move.Move[Began]):
    """Move a server to another flavor and usually another host; a migration keeps the flavor."""

    arguments: Arguments
    kind, also = 'resize', ('migrate', *ACROSS)
    first = steps.MIGRATION
    tasks = transitions.RESIZE.tasks
    refusable = (steps.RECORD, cross_cell.COPY, steps.BIND, steps.RESERVE, steps.CLAIM)
    harmless = (steps.RECORD, cross_cell.COPY, cross_cell.SHOW)
    ports = part.Of(ports.Ports)
    volumes = part.Of(volumes.Volumes, steps.RESERVE, connects=True)
    crossing = part.Of(cross_cell.Crossing)
    ways = (saga.Way(), saga.Way(data={steps.CHOOSE: {'cell_uuid': ANOTHER}}))

    def steps(self) -> saga.Steps:
        return self.crossing.steps() if self.crosses else self._steps()

    def _steps(self) -> saga.Steps:
        return (
            steps.begin(self, later=True),
            steps.hold(self),
            steps.choose(self),
            places.SOURCE_RECORDS.step(steps.RECORD, self.record, self.forget, later=True),
            self.ports.binding(steps.BIND),
            self.volumes.step(),
            self.claiming(),
            places.SOURCE_HOST.step(
                LEAVE,
                self.leave,
                self.take_back,
                calls=('discard_guest', 'finish_revert_resize', 'resize_instance'),
            ),
            self.ports.activating(steps.ACTIVATE),
            places.DEST_HOST.step(
                FINISH, self.finish, self.destroy, calls=('finish_resize', 'revert_resize')
            ),
            places.SOURCE_RECORDS.step('switch-record-to-destination', self.switch, pivot=True),
            steps.save_spec(self),
            *self.steps_of_attachments(),
        )

    def claiming(self) -> saga.Step:
        """Return the step that claims room on the destination."""
        return places.DEST_HOST.step(
            steps.CLAIM,
            self.claim,
            self.drop_move_claim,
            calls=('drop_move_claim_at_destination', 'prep_resize'),
        )

    def steps_of_attachments(self) -> saga.Steps:
        """Return the step that ends the source's attachments, if any may exist."""
        if self.arrival in self.results and not self.volumes.reserved:
            return ()
        return (self.volumes.settling(steps.FORMER),)

    # ---- where it goes ----

    @property
    def crosses(self) -> bool:
        """Return whether the chosen destination is in another cell."""
        if self.kind not in ACROSS or steps.CHOOSE not in self.results:
            return False
        return self.destination.cell_uuid != self.arguments.cell

    @property
    def there(self) -> server_cell.ServerCell:
        if not self.crosses:
            return self.here
        cell = self.world.cells.get(self.destination.cell_uuid)
        return server_cell.ServerCell(self, cell)

    @property
    def arrival(self) -> saga.Result[answers.Guest]:
        """Return the step that creates the guest on the destination."""
        return cross_cell.SPAWN if self.crosses else FINISH

    # ---- what it is about ----

    def arriving(self, row: rows.Row) -> instance_objects.Instance:
        """Return the Instance as it will be on the destination."""
        return self.instance(row, flavor=flavor_objects.Flavor(**self.arguments.flavor))

    def spec(self, beside: Collection[str]) -> request_spec.RequestSpec:
        spec = super().spec(beside)
        spec.flavor = flavor_objects.Flavor(**self.arguments.flavor)
        # A host that it was evacuated from cleans up by the records of its own cell.
        # What ports ask for is not known to nova's moves between cells.
        may_cross = self.kind in ACROSS and not beside and not spec.requested_resources
        spec.destination().allow_cross_cell_move = may_cross
        return spec

    # ---- record the migration ----

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        row = self.require_there(row)
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
            values = {'status': str(Status.ERROR), **self.choice.columns_of_failure(self.arrival)}
            migrations.update(connection, self.uuid, values)
        if row is not None and steps.RECORD in self.not_undone:
            move_records.forget_destination(connection, row.uuid, self.began.zone)

    # ---- record destination ----

    def record(self) -> None:
        """Record the destination, unless the server's group forbids it by now."""
        self._record(self.choice.group())

    @part.transaction
    def _record(self, connection: sa.Connection, group: instance_group.Group | None) -> None:
        zone = self.destination.availability_zone
        changes = {'new_flavor': self.arguments.flavor, 'availability_zone': zone}
        self.choice.admit(connection, group, changes=changes, tasks=(Task.RESIZE_PREP,))
        self.events.start_first(connection, PREP_EVENT, self.dest_host)

    @part.transaction
    def forget(self, connection: sa.Connection) -> None:
        """Undo `record`. The migration keeps the destination, unless another one follows."""
        row = instances.find(connection, self.instance_uuid)
        if row is not None and not row.deleted:
            move_records.forget_destination(connection, row.uuid, self.began.zone)
        event = cross_cell.PREP_EVENT if self.crosses else PREP_EVENT
        self.events.end_refused(connection, event, self.dest_host)
        if self.going_back:
            migrations.update(connection, self.uuid, migrations.NOWHERE)

    # ---- the hosts ----

    def claim(self) -> None:
        """Claim room on the destination, and connect the volumes there."""
        (row, devices), known = self.there.read(
            asking.with_services,
            server_cell.server_and_devices,
            self.instance_uuid,
            hosts=[self.dest_host],
        )
        asking.require_up_or_retry(self, self.dest_host, known=known)
        self.there.compute.prep_resize(
            self.ctxt,
            instance=self.arriving(row),
            # The copy of the records there may be older than the new attachments.
            block_devices=self.volumes.arriving(None if self.crosses else devices),
            **self.dest,
        )

    def drop_move_claim(self) -> None:
        """Undo `claim`. A host that is down has lost the claim anyway."""
        if self.there.is_up(self.dest_host):
            drop = self.there.compute.drop_move_claim_at_destination
            drop(self.ctxt, instance_uuid=self.instance_uuid, **self.dest)

    def leave(self) -> asking.Reply:
        """Stop the guest on the source."""
        known = self.note_leaving(PREP_EVENT, SOURCE_EVENT)
        asked = {**self.at_source(LEAVE), 'move': self.uuid}
        return self.ask(self.compute.resize_instance, known=known, **asked)

    @part.transaction
    def note_leaving(self, connection: sa.Connection, former: str, event: str) -> asking.Known:
        """Record that the source works. Return its service.

        former: the event that ends; event: the next one
        """
        self.note_progress(
            connection,
            status=Status.MIGRATING,
            changes={'task_state': str(Task.RESIZE_MIGRATING)},
            ended=(former, self.dest_host),
            started=(event, self.began.host),
            expect=(Task.RESIZE_PREP, Task.RESIZE_MIGRATING),
        )
        return asking.services_of(connection, [self.source_host])

    def take_back(self) -> asking.Reply:
        """Undo `leave` or a snapshot: restore the source's guest, unless the server is gone."""
        row = self.find_present()
        if row is not None:
            # Stay off if the server is being soft-deleted or was reset meanwhile, or if the
            # guest may run on a destination that could not remove it.
            was_on = self.began.vm_state == states.VmState.ACTIVE
            alone = self.arrival not in self.not_undone
            with asking.unless_deleted(self):
                waits = self.ask(
                    self.compute.finish_revert_resize,
                    **self.at_source(LEAVE),
                    move=self.uuid,
                    power_on=was_on and alone and row.task_state in self.tasks,
                )
                if isinstance(waits, saga.Pending):
                    return waits
        if self.is_gone():
            discard = self.at_source(f'{LEAVE}/discard')
            return self.ask(self.compute.discard_guest, **discard, move=self.uuid)
        return None

    def finish(self) -> asking.Reply:
        handover = self.results[LEAVE].handover
        events = (SOURCE_EVENT, FINISH_EVENT)
        return self.make_guest(self.compute.finish_resize, events, handover=handover)

    def make_guest(
        self, method: asking.Method, events: tuple[str, str], **arrival: typing.Any
    ) -> asking.Reply:
        """Create the guest on the destination. events: the one that ends, the next one"""
        host = self.dest_host
        (row, devices), known = self._begin_to_make(events)
        if self.crosses:
            row, known = self.there.read(
                asking.with_services, instances.get, self.instance_uuid, hidden=True, hosts=[host]
            )
        asking.require_up_or_retry(self, host, known=known)
        vm_state = self.began.vm_state if self.crosses else row.vm_state
        return asking.answer(
            method(
                self.ctxt,
                host=host,
                instance=self.arriving(row),
                block_devices=self.volumes.arriving(devices),
                arrival={
                    'node': self.destination.nodename,
                    'power_on': vm_state == states.VmState.ACTIVE,
                    'key': self.key(self.arrival),
                    **arrival,
                },
            )
        )

    @part.transaction
    def _begin_to_make(
        self, connection: sa.Connection, events: tuple[str, str]
    ) -> tuple[tuple[rows.Row, server_cell.Devices], asking.Known]:
        """Record that the destination works.

        Return the server and its block devices here, and the destination's service if it is here.
        """
        self.note_progress(
            connection,
            status=Status.POST_MIGRATING,
            changes={'task_state': str(Task.RESIZE_FINISH)},
            ended=(events[0], self.began.host),
            started=(events[1], self.dest_host),
            expect=(Task.RESIZE_MIGRATING, Task.RESIZE_FINISH),
        )
        found, hosts = server_cell.server_and_devices, () if self.crosses else (self.dest_host,)
        return asking.with_services(connection, found, self.instance_uuid, hosts=hosts)

    def destroy(self) -> asking.Reply:
        asked = self.at_dest(self.arrival)
        return self.ask(self.there.compute.revert_resize, **asked, move=self.uuid)

    # ---- the pivot and what follows it ----

    @part.transaction
    def switch(self, connection: sa.Connection) -> None:
        """Move the record to the destination, in VERIFY_RESIZE. This is the pivot."""
        if migrations.get(connection, self.uuid).status == Status.FINISHED:
            return
        row = instances.hold(connection, self.instance_uuid)
        instances.update(
            connection,
            row.uuid,
            self.columns_of_arrival(row.flavor, row.network_info),
            former=row,
            expect_task=(Task.RESIZE_FINISH,),
            expect_host=(self.began.host,),
        )
        self.arrived(connection)
        self.events.end_all(connection)

    def columns_of_arrival(self, former: saga.Data, recorded: session.Jsons | None) -> saga.Data:
        """Return the columns of a server on its destination.

        former: its flavor before; recorded: network information of its row, locked or sealed
        """
        return {
            **self.ports.columns(steps.ACTIVATE, recorded),
            **self.dest,
            'old_flavor': former,
            'power_state': self.results[self.arrival].power_state,
            'vm_state': str(states.VmState.RESIZED),
            'task_state': None,
            'launched_at': runtime.naive_now(),
            **move_records.flavor_columns(self.arguments.flavor),
        }

    def arrived(self, connection: sa.Connection) -> None:
        """Record, in the destination's cell, the attachments and the end of the migration."""
        connected = self.results[self.arrival].block_devices
        move_records.change_devices(connection, self.volumes.reserved, connected)
        migrations.update(connection, self.uuid, {'status': str(Status.FINISHED)})

    def save_spec(self) -> None:
        self.stored_request.save_flavor(self.arguments.flavor)
