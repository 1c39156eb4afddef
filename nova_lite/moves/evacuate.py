"""Evacuation: rebuild a server of a failed host on another host (reference/nova/moves 5).

The server keeps its allocation on the failed host until that host has returned and removed
its guest (compute.evacuated). The pivot switches the record when the new guest exists. A
failure before it leaves the server as it was.
"""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import forced
from nova_lite.moves.parts import relocation
from nova_lite.objects import instance as instance_objects
from nova_lite.states import transitions

Began = steps.Began
Status = states.MigrationStatus
Vm = states.VmState

NOTE = saga.Result('note-held-providers', list[str])
REBUILD = saga.Result('rebuild-on-destination', answers.Guest)
CONDUCTOR_EVENT = 'rebuild_server'
REBUILD_EVENT = 'compute_rebuild_instance'
STOP_EVENT = 'compute_stop_instance'
# Refusals of the destination that leave the server as it was.
HARMLESS = ('NoCapacity', 'GroupPolicyViolated', 'HostMappingNotFound')


class Arguments(scopes.Arguments):
    """forced: skip the scheduler; leave_stopped: do not start the guest"""

    forced: bool
    leave_stopped: bool


class Claims(allocation.Allocation):
    """Allocations of a server that keeps its allocation on the failed host."""

    def note(self) -> list[str]:
        """Return the providers of the server's allocations, with those of earlier evacuations."""
        held = self.scope.world.placement.holding(self.scope.ctxt, self.scope.instance_uuid)
        return sorted(held.allocations)

    def held_beside(self) -> set[str]:
        """Return the providers of the server's former allocations: its source and earlier ones."""
        return set(self.scope.results[NOTE])

    def drop_claim(self) -> None:
        """Undo `choose`: release the claim, and keep the former allocations of the server."""
        scope, placement = self.scope, self.scope.world.placement
        if scope.is_gone():
            placement.delete_allocations(scope.ctxt, scope.instance_uuid, force=True)
            return
        claimed = self._claimed()
        if claimed:
            placement.release(scope.ctxt, scope.instance_uuid, claimed)

    def _claimed(self) -> set[str]:
        """Return the providers that this evacuation claims, or may have claimed."""
        results = self.scope.results
        if steps.CHOOSE in results:
            return {results[steps.CHOOSE].compute_node_uuid}
        return set(self.note()) - set(results[NOTE])


class Evacuation(move.Move[Began]):
    arguments: Arguments
    kind = 'evacuation'
    first = relocation.BEGIN
    tasks = transitions.EVACUATE.tasks

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope = self.scope
        self.claims = Claims(scope)
        force = forced.Force(scope, self.claims, self.source)
        self.choice = forced.ForcedChoice(force, self.arguments, forced=self.arguments.forced)
        self.dest = self.choice.end()
        route = scopes.Route(self.source, self.dest)
        self.relocation = relocation.Relocation(scope, route, self.choice, self.progress)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            places.PLACEMENT.step(NOTE, self.claims.note),
            self.choice.choosing(),
            self.relocation.recording({'status': str(Status.PRE_MIGRATING)}),
            self.relocation.ports.binding(steps.BIND),
            self.relocation.volumes.step(),
            places.DEST_HOST.step(
                REBUILD, self.rebuild, self.take_back, calls=('rebuild_instance', 'undo_rebuild')
            ),
            self.relocation.switching(REBUILD, columns=self._columns_of_arrival),
            self.relocation.ports.settling(steps.ACTIVATE),
            self.relocation.volumes.settling(steps.FORMER),
            places.SOURCE_RECORDS.step('record-end-of-action', self.complete),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        self.events.start_first(connection, CONDUCTOR_EVENT)
        return Began.of(self.scope.require_row(row))

    def rebuild(self) -> asking.Reply:
        self.progress.record(started=(REBUILD_EVENT, self.dest.host), ended=(CONDUCTOR_EVENT, None))
        method, power_on = self.scope.compute.rebuild_instance, self.runs_afterwards
        return self.relocation.volumes.call(
            lambda devices: self._ask_dest(method, block_devices=devices, power_on=power_on)
        )

    def _ask_dest(self, method: asking.Method, **more: typing.Any) -> asking.Reply:
        """Call the destination, with an Instance that names it as the host."""
        scope, dest = self.scope, self.dest.columns
        row = scope.require_row(scope.find())
        instance = instance_objects.Instance.from_row(row, **dest)
        own: dict[str, typing.Any] = {**dest, 'instance': instance, 'key': self.key(REBUILD)}
        return asking.ask_one_that_is_up(scope, method, **own, **more)

    @property
    def runs_afterwards(self) -> bool:
        """Return whether to start the guest: not if it was stopped, but after an error."""
        if self.began.vm_state == Vm.ERROR:
            return True
        return self.began.vm_state == Vm.ACTIVE and not self.arguments.leave_stopped

    def take_back(self) -> asking.Reply:
        return self._ask_dest(self.scope.compute.undo_rebuild, move=self.uuid)

    def _columns_of_arrival(self) -> saga.Data:
        return {
            'vm_state': str(Vm.ACTIVE if self.runs_afterwards else Vm.STOPPED),
            'power_state': self.results[REBUILD].power_state,
            'launched_at': runtime.naive_now(),
        }

    @scopes.transaction
    @scopes.ending
    def complete(self, connection: sa.Connection) -> None:
        """Clear the task and end the action."""
        self.relocation.settle(connection, {})
        migrations.update(connection, self.uuid, {'status': str(Status.DONE)})
        if not self.runs_afterwards:
            self.events.record(connection, STOP_EVENT, self.dest.host)
        self.events.end_all(connection, self.given_up.get(steps.ACTIVATE))

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        status = Status.FAILED if relocation.RECORDED in self.results else Status.ERROR
        values = {'status': str(status), **self.choice.columns_of_failure(REBUILD)}
        migrations.update(connection, self.uuid, values)

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        """Set the server to ERROR, as nova does if no host was found or no guest created."""
        return {} if self.error_type in HARMLESS else {'vm_state': Vm.ERROR}
