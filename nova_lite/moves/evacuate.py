"""Evacuation: a server of a host that failed is rebuilt on another (reference/nova/moves 5).

The server holds its allocations on both hosts until the one that failed has come back
and removed what is left there (compute.evacuated). The pivot switches the record when
the guest has been made; before it the server is as it was, and may be told so.
"""

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import move
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import relocation

Status = states.MigrationStatus
Vm = states.VmState

NOTE = saga.Result('note what is held', list[str])
REBUILD = saga.Result('rebuild on destination', answers.Guest)
CONDUCTOR_EVENT = 'rebuild_server'
REBUILD_EVENT = 'compute_rebuild_instance'
STOP_EVENT = 'compute_stop_instance'
# A destination that has no room after all leaves the server as it was.
HARMLESS = ('NoCapacity', 'GroupPolicyViolated')


class Arguments(move.Arguments):
    """forced: past the scheduler; leave_stopped: do not start the guest"""

    forced: bool
    leave_stopped: bool


class Evacuation(move.Move[steps.Began]):
    """From a host that is down."""

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

    def steps(self):
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
            places.SOURCE_RECORDS.step('tell that it is done', self.complete),
        )

    def begun(self, connection, row):
        return self.relocation.begin(connection, row, CONDUCTOR_EVENT)

    # ---- allocations ----

    def drop_claim(self):
        """Undo of `choose`: the server holds what it has at its source, and nothing else."""
        placement = self.world.placement
        if self.is_gone():
            placement.delete_allocations(self.ctxt, self.instance_uuid, force=True)
            return
        claimed = self._claimed()
        if claimed:
            placement.release(self.ctxt, self.instance_uuid, claimed)

    def held_beside(self):
        """Return the providers that it held when this began: its source, earlier evacuations."""
        return set(self.results[NOTE])

    def _claimed(self):
        """Providers on which this evacuation claims, or may have claimed unheard."""
        if steps.CHOOSE in self.results:
            return {self.destination.compute_node_uuid}
        return set(self.note_held()) - set(self.results[NOTE])

    def note_held(self):
        """Providers on which the server holds something, perhaps of earlier evacuations."""
        held = self.world.placement.holding(self.ctxt, self.instance_uuid)
        return sorted(held.allocations)

    # ---- the destination ----

    def rebuild(self):
        """rebuild_instance: the destination makes the guest."""
        self.progress(started=(REBUILD_EVENT, self.dest_host), ended=(CONDUCTOR_EVENT, None))
        return self._ask_dest(
            self.compute.rebuild_instance,
            block_devices=self.relocation.volumes.arriving(),
            power_on=self.runs_afterwards,
        )

    def _ask_dest(self, method, **more):
        """Call the destination, with the server as if it were there."""
        end = {'host': self.dest_host, 'node': self.destination.nodename}
        instance, key = self.instance(self.find(), **end), self.key(REBUILD)
        return self.relocation.ask(method, **end, instance=instance, key=key, **more)

    @property
    def runs_afterwards(self):
        """A server that was stopped stays so; one in error is to run."""
        if self.began.vm_state == Vm.ERROR:
            return True
        return self.began.vm_state == Vm.ACTIVE and not self.arguments.leave_stopped

    def take_back(self):
        """Undo of `rebuild`."""
        return self._ask_dest(self.compute.undo_rebuild, move=self.uuid)

    # ---- the switch and what follows it ----

    def _columns_of_arrival(self):
        return {
            'vm_state': str(Vm.ACTIVE if self.runs_afterwards else Vm.STOPPED),
            'power_state': self.results[REBUILD].power_state,
            'launched_at': runtime.naive_now(),
        }

    @part.transaction
    def complete(self, connection):
        """The last of it: the server is its user's again."""
        self.relocation.settle(connection, {})
        migrations.update(connection, self.uuid, {'status': str(Status.DONE)})
        if not self.runs_afterwards:
            self.events.record(connection, STOP_EVENT, self.dest_host)
        self.events.end_all(connection)

    # ---- the end of an evacuation that is undone ----

    def undone(self, connection, row):
        status = Status.FAILED if relocation.RECORDED in self.results else Status.ERROR
        values = {'status': str(status), **self.columns_of_failure(REBUILD)}
        migrations.update(connection, self.uuid, values)

    def changes_of_failure(self, row):
        """Nova leaves a server in error that found no place or was not made in it."""
        return {} if self.error_type in HARMLESS else {'vm_state': Vm.ERROR}
