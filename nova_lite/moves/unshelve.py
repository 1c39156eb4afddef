"""Unshelve: a shelved server runs again, on its host or on another host of its cell.

An offloaded server is created from its image on a host that the scheduler chooses. Until the
pivot switches the record, the server is shelved and offloaded, and a failure is undone. During that
time a hidden migration names the destination, so that the host's audit, the scheduler and the
checks of server groups know about the guest.
"""

from collections.abc import Collection
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import network_info
from nova_lite.lifecycle import group_policies
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import shelving
from nova_lite.moves.parts import stored_request
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import instance_group
from nova_lite.objects import port_devices
from nova_lite.objects import request_spec
from nova_lite.states import transitions

Began = steps.Began
Vm = states.VmState

RECORD = 'admit-destination'
BIND = saga.Result(steps.BIND, steps.Info)
SPAWN = saga.Result('spawn-on-destination', answers.Guest)
START = saga.Result('start-on-its-host', answers.Guest)
RUNS, SWITCH = 'record-running', 'switch-host-in-record'
IMAGE_EVENT, SCHEDULE_EVENT = 'get_image_info', 'schedule_instances'
EVENT = 'compute_unshelve_instance'
START_EVENT = 'compute_start_instance'


class Arguments(scopes.Arguments):
    """offloaded: whether the server is on no host

    zone: the new availability zone; None: no zone; False: keep the current zone
    """

    offloaded: bool
    zone: str | None | bool = False


class Unshelve(move.Move[Began]):
    arguments: Arguments
    kind = 'unshelve'
    first = shelving.BEGIN
    tasks = transitions.UNSHELVE.tasks
    # The server is on no host, as before, and the migration names a host that may have a guest.
    # A guest on the host of a shelved server is powered off by that host (compute.power_audit).
    # The undo of a pivot changes only the image.
    harmless = (BIND, SPAWN, START, RUNS, SWITCH)
    ways = (saga.Way({'offloaded': True}), saga.Way({'offloaded': False}))

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.allocation = allocation.Allocation(self.scope)
        self.choice = choice.Choice(self.scope, self.allocation, self.arguments, adapt=self._adapt)
        self.dest = self.choice.end()
        self.stored_request = stored_request.StoredRequest(self.scope)
        self.volumes = shelving.attachments(self.scope)

    def steps(self) -> saga.Steps:
        way = self._on_another_host() if self.arguments.offloaded else self._where_it_is()
        done = places.SOURCE_RECORDS.step('record-end-of-action', self.progress.end)
        return (self.beginning(), *way, done)

    def _where_it_is(self) -> saga.Steps:
        return (
            places.SOURCE_HOST.step(
                START,
                self.start,
                self.stop,
                calls=('finish_revert_resize', 'prep_snapshot_based_resize_at_source'),
            ),
            self._pivot(RUNS, self.record_running, title='record that the server runs'),
            self._dropping(),
        )

    def _on_another_host(self) -> saga.Steps:
        return (
            places.IMAGES.step('find-image', self.find_image),
            self.choice.choosing(),
            self.choice.recording(RECORD, self.admit, dest=self.dest),
            places.NETWORK.step(
                BIND,
                self.bind,
                lambda: neighbours.unbind_all(self.scope),
                clean=duties.no_bindings(self.scope),
            ),
            self.volumes.step(),
            places.DEST_HOST.step(
                SPAWN,
                self.spawn,
                self.destroy,
                calls=('finish_snapshot_based_resize_at_dest', 'revert_resize'),
            ),
            self._pivot(SWITCH, self.switch),
            self.stored_request.saving(self.save_spec),
            self._dropping(),
            self.volumes.settling('drop-former-attachments'),
        )

    def _pivot(self, step: str, do: saga.Effect, **options: str) -> saga.Step:
        """Return the pivot. It removes the image's id from the record.

        If its result is unknown, and the server is deleted before it is repeated, the pivot fails
        although it took place. Its undo deletes the image, which the deletion does not know.
        """
        undo = self.drop_unnamed_image
        clean = saga.Clean(undo)
        return places.SOURCE_RECORDS.step(step, do, undo, pivot=True, clean=clean, **options)

    def _dropping(self) -> saga.Step:
        """Return the step that deletes the shelved image."""
        clean = saga.Clean(self.drop_image)
        return places.IMAGES.best_effort('delete-shelved-image', self.drop_image, clean=clean)

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        offloaded = self.arguments.offloaded
        has_image = row is not None and Began.of(row).image_id
        first = IMAGE_EVENT if has_image else SCHEDULE_EVENT
        event = first if offloaded else START_EVENT
        return shelving.begin(self.progress, connection, row, event, at_host=not offloaded)

    # ---- on its own host ----

    def start(self) -> asking.Reply:
        host = self.source.host
        self.scope.here.require_up_or_fail(host)
        return shelving.start(self.scope, self.source, START)

    def stop(self) -> asking.Reply:
        return (
            None
            if self.scope.is_gone()
            else shelving.stop(self.scope, self.source, f'undo {START}')
        )

    @scopes.transaction
    def record_running(self, connection: sa.Connection) -> None:
        """Record the server as ACTIVE. This is the pivot."""
        row = instances.hold(connection, self.instance_uuid)
        self._arrive(connection, row, self.results[START], {})

    def _arrive(
        self, connection: sa.Connection, row: rows.Row, reply: answers.Guest, changes: rows.Values
    ) -> None:
        instances.update(
            connection,
            row.uuid,
            {
                'vm_state': str(Vm.ACTIVE),
                'power_state': reply.power_state,
                'system_metadata': shelving.without_shelf(row.system_metadata),
                **changes,
            },
            expect_task=self.tasks,
        )

    # ---- on another host ----

    def find_image(self) -> None:
        """Raise ImageNotFound before anything is done."""
        if self.began.image_id:
            self.world.image.get(self.ctxt, self.began.image_id)
            self.progress.record(ended=(IMAGE_EVENT, None), started=(SCHEDULE_EVENT, None))

    def _adapt(self, spec: request_spec.RequestSpec, beside: Collection[str]) -> None:
        """Change the server's request for the scheduler."""
        spec.current_host = None
        if not isinstance(self.arguments.zone, bool):
            spec.availability_zone = self.arguments.zone

    def admit(self) -> None:
        """Record the destination, unless the server's group forbids it by now."""
        group = self.choice.group()
        self._admit(group)
        group_policies.check_other_cells(
            self.world, group, cell=self.scope.cell, host=self.dest.host, own={self.instance_uuid}
        )

    @scopes.transaction
    def _admit(self, connection: sa.Connection, group: instance_group.Group | None) -> None:
        host = self.dest.host
        row = instances.get(connection, self.instance_uuid)
        group_places.check(connection, row.uuid, host, group)
        self.progress.note(connection, ended=(SCHEDULE_EVENT, None), started=(EVENT, host))
        columns = self.choice.columns(connection)
        if migrations.find(connection, self.uuid) is not None:
            migrations.update(connection, self.uuid, columns)
            return
        migrations.create(
            connection,
            {
                'uuid': self.uuid,
                'instance_uuid': self.instance_uuid,
                'migration_type': str(states.MigrationType.UNSHELVE),
                'status': str(states.MigrationStatus.MIGRATING),
                'hidden': True,
                **columns,
            },
        )

    def bind(self) -> session.Jsons | None:
        """Bind the ports to the destination. Return the new network_info."""
        row = self.scope.row()
        if not row.network_info:
            return None
        self.world.network.move(
            self.ctxt,
            row.uuid,
            row.network_info,
            self.dest.host,
            allocations=neighbours.allocations(self.scope),
        )
        return self.world.network.info(self.ctxt, row.uuid, row.network_info)

    def _network_info(self, row: rows.Row) -> session.Jsons:
        """Return the network_info of the bound ports; empty if all ports were deleted since."""
        bound = self.results.get(BIND)
        return row.network_info if bound is None else bound

    def spawn(self) -> asking.Reply:
        """Create the guest. Its host chooses the devices that are ports."""
        row = self.scope.row()
        made = self._spawn(row)
        bound = None if isinstance(made, saga.Pending) else self.results.get(BIND)
        if bound and any(port_devices.KEY in vif for vif in bound):
            self.results[BIND] = self.world.network.info(self.ctxt, row.uuid, bound)
        return made

    def _spawn(self, row: rows.Row) -> asking.Reply:
        instance = instance_objects.Instance.from_row(row, network_info=self._network_info(row))
        arrival = {
            'node': self.choice.found.nodename,
            'image_id': self.began.image_id,
            'power_on': True,
            'key': self.key(SPAWN),
        }
        return self.volumes.call(
            lambda devices: asking.ask(
                self.scope,
                self.scope.compute.finish_snapshot_based_resize_at_dest,
                host=self.dest.host,
                instance=instance,
                block_devices=devices,
                arrival=arrival,
            )
        )

    def destroy(self) -> asking.Reply:
        asked = self.dest.asked(f'undo {SPAWN}')
        return asking.ask(self.scope, self.scope.compute.revert_resize, **asked, move=self.uuid)

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        """Keep the migration only if the destination may still have the guest."""
        move_records.shelve_again(connection, self.instance_uuid)
        left = self.choice.columns_of_failure(SPAWN)
        if left and row is not None:
            values = {'status': str(states.MigrationStatus.ERROR), **left}
            migrations.update(connection, self.uuid, values)
        else:
            migrations.drop(connection, self.uuid)

    @scopes.transaction
    def switch(self, connection: sa.Connection) -> None:
        """Move the record to the destination. This is the pivot."""
        row = instances.hold(connection, self.instance_uuid)
        if row.host == self.dest.host:
            return
        changes = {
            **self.dest.columns,
            'availability_zone': self.choice.found.availability_zone,
            'launched_at': runtime.naive_now(),
            'network_info': network_info.merged(row.network_info, self._network_info(row)),
        }
        self._arrive(connection, row, self.results[SPAWN], changes)
        move_records.change_devices(
            connection, self.volumes.reserved, self.results[SPAWN].block_devices
        )
        migrations.drop(connection, self.uuid)

    # ---- after the pivot ----

    def save_spec(self) -> None:
        """Store the requested availability zone in the request."""
        if self.arguments.zone is not False:
            self.stored_request.change(availability_zone=self.arguments.zone)

    def drop_image(self) -> None:
        """Delete the shelved image. If the image service refuses that, the image stays."""
        shelving.drop_image(self.scope, self.began.image_id)

    def drop_unnamed_image(self) -> None:
        """Delete the shelved image, unless the server's record names it."""
        shelving.drop_unnamed_image(self.scope, self.began.image_id)
