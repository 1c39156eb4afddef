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
from nova_lite import transitions
from nova_lite.db import rows
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import relocation

Began = steps.Began
Status = states.MigrationStatus
Vm = states.VmState

NOTE = saga.Result('note-held-providers', list[str])
REBUILD = saga.Result('rebuild-on-destination', answers.Guest)
CONDUCTOR_EVENT = 'rebuild_server'
REBUILD_EVENT = 'compute_rebuild_instance'
STOP_EVENT = 'compute_stop_instance'
# Refusals of the destination that leave the server as it was.
HARMLESS = ('NoCapacity', 'GroupPolicyViolated')


class Arguments(move.Arguments):
    """forced: do not ask the scheduler; leave_stopped: do not start the guest"""

    forced: bool
    leave_stopped: bool


class Evacuation(move.Move[Began]):
    arguments: Arguments
    kind = 'evacuation'
    first = relocation.BEGIN
    tasks = transitions.EVACUATE.tasks
    may_retry = False
    relocation = part.Of(
        relocation.Relocation,
        holder=lambda move: move.instance_uuid,
        columns={'status': str(Status.PRE_MIGRATING)},
    )
    choice = relocation

    def steps(self) -> saga.Steps:
        return (
            steps.begin(self),
            places.PLACEMENT.step(NOTE, self.note_held),
            steps.choose(self),
            self.relocation.recording(),
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
        return Began.of(self.require_row(row))

    def drop_claim(self) -> None:
        """Undo `choose`: the server keeps only the allocations that it had before."""
        placement = self.world.placement
        if self.is_gone():
            placement.delete_allocations(self.ctxt, self.instance_uuid, force=True)
            return
        claimed = self._claimed()
        if claimed:
            placement.release(self.ctxt, self.instance_uuid, claimed)

    def held_beside(self) -> set[str]:
        """Return the providers that the server held before: its source and earlier ones."""
        return set(self.results[NOTE])

    def _claimed(self) -> set[str]:
        """Return the providers that this evacuation claims, or may have claimed."""
        if steps.CHOOSE in self.results:
            return {self.destination.compute_node_uuid}
        return set(self.note_held()) - set(self.results[NOTE])

    def note_held(self) -> list[str]:
        """Return the providers that the server holds, also those of earlier evacuations."""
        held = self.world.placement.holding(self.ctxt, self.instance_uuid)
        return sorted(held.allocations)

    def rebuild(self) -> asking.Reply:
        self.progress(started=(REBUILD_EVENT, self.dest_host), ended=(CONDUCTOR_EVENT, None))
        return self._ask_dest(
            self.compute.rebuild_instance,
            block_devices=self.relocation.volumes.arriving(),
            power_on=self.runs_afterwards,
        )

    def _ask_dest(self, method: asking.Method, **more: typing.Any) -> asking.Reply:
        """Call the destination, with the server as if it were there."""
        instance, key = self.instance(self.require_row(self.find()), **self.dest), self.key(REBUILD)
        own: dict[str, typing.Any] = {**self.dest, 'instance': instance, 'key': key}
        return self.relocation.ask(method, **own, **more)

    @property
    def runs_afterwards(self) -> bool:
        """Return whether to start the guest: not if it was stopped, but after an error."""
        if self.began.vm_state == Vm.ERROR:
            return True
        return self.began.vm_state == Vm.ACTIVE and not self.arguments.leave_stopped

    def take_back(self) -> asking.Reply:
        return self._ask_dest(self.compute.undo_rebuild, move=self.uuid)

    def _columns_of_arrival(self) -> saga.Data:
        return {
            'vm_state': str(Vm.ACTIVE if self.runs_afterwards else Vm.STOPPED),
            'power_state': self.results[REBUILD].power_state,
            'launched_at': runtime.naive_now(),
        }

    @part.transaction
    def complete(self, connection: sa.Connection) -> None:
        """Clear the task and end the action."""
        self.relocation.settle(connection, {})
        migrations.update(connection, self.uuid, {'status': str(Status.DONE)})
        if not self.runs_afterwards:
            self.events.record(connection, STOP_EVENT, self.dest_host)
        self.events.end_all(connection, self.given_up.get(steps.ACTIVATE))

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        status = Status.FAILED if relocation.RECORDED in self.results else Status.ERROR
        values = {'status': str(status), **self.choice.columns_of_failure(REBUILD)}
        migrations.update(connection, self.uuid, values)

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        """Set the server to ERROR, as nova does if no host was found or no guest created."""
        return {} if self.error_type in HARMLESS else {'vm_state': Vm.ERROR}
