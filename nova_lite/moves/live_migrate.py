"""Live migration within a cell (reference/nova/moves 4).

The guest runs on the source until its memory is copied. A failure before that is undone and
does not affect the guest. The pivot is the transaction that switches the record, after the
source has handed the guest over and before the destination may start it. So the guest can run
in one place only.
"""

from collections.abc import Callable
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import live_turns
from nova_lite.db.cell import migrations
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import plugging
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import forced
from nova_lite.moves.parts import live_checks
from nova_lite.moves.parts import relocation
from nova_lite.objects import instance as instance_objects
from nova_lite.states import transitions

Began = steps.Began
Status = states.MigrationStatus
T = typing.TypeVar('T')
Power = states.PowerState


class Arguments(scopes.Arguments):
    """forced: skip the scheduler; synchronous: the API waits for the checks

    block_migration: whether to copy disks; None: the hosts decide
    """

    forced: bool
    block_migration: bool | None
    synchronous: bool = False


class Prepared(saga.Answer):
    """The destination's reply: a ticket for the source, and the connections of volumes."""

    ticket: saga.Data
    block_devices: typing.Sequence[saga.Data] = ()


class Copied(saga.Answer):
    """The source's reply. handover: see answers.Departed; other fields: columns of the migration"""

    handover: saga.Data
    memory_total: int | None = None
    memory_processed: int | None = None
    memory_remaining: int | None = None
    disk_total: int | None = None
    disk_processed: int | None = None
    disk_remaining: int | None = None

    def counters(self) -> dict[str, int]:
        """Return {column of the migration: bytes} of the known counters."""
        return {
            name: value
            for name, value in self.as_dict().items()
            if value is not None and name.startswith(('memory_', 'disk_'))
        }


PREPARE = saga.Result('prepare-destination', Prepared)
COPY = saga.Result('copy', Copied, secret=True)
START = saga.Result('start-guest-on-destination', answers.Guest)
CLEAN = 'clean-up-source'
PREPARE_EVENT = 'compute_pre_live_migration'
START_EVENT = 'compute_post_live_migration_at_destination'
ROLLBACK_EVENT = 'compute_rollback_live_migration_at_destination'
ENDED = 'The live migration had ended.'
# An abort is no fault, and the event of its own action records it.
ABORTED = 'LiveMigrationAborted'
# {command of an operator: the status of a migration after it}
FULFILLED = {
    live_migrations.ABORT: Status.CANCELLED,
    live_migrations.FORCE_COMPLETE: Status.COMPLETED,
}


class LiveMigration(move.Move[Began]):
    arguments: Arguments
    kind = 'live-migration'
    version, former_versions = 2, (1,)
    first = relocation.BEGIN
    tasks = transitions.LIVE_MIGRATE.tasks
    hidden = (ABORTED,)
    refusable = (steps.RECORD, live_checks.CHECK_DEST, live_checks.CHECK_SOURCE, steps.BIND)
    # The remains of these steps are at the destination, while the server runs at its source.
    harmless = (*refusable, PREPARE)

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope, asked = self.scope, self.arguments
        self.allocation = own = allocation.Exchange(scope)
        force = forced.Force(scope, own, self.source, require_fit=live_checks.require_fit)
        options = {'forced': asked.forced, 'may_retry': not asked.forced}
        self.choice = forced.ForcedChoice(force, asked, refusable=self.refusable, **options)
        self.dest = self.choice.end()
        route = scopes.Route(self.source, self.dest)
        self.relocation = relocation.Relocation(scope, route, self.choice, self.progress)
        self.checks = live_checks.LiveChecks(scope, route, self.progress, self.conductor_event)

    def go_back(self, step: saga.Step, error: Exception) -> str | None:
        return self.choice.go_back(step, error)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(later=True),
            self.checks.of_server(),
            *self.allocation.holding(former=self.version == 1),
            self.choice.choosing(later=True),
            self.relocation.recording(),
            *self.checks.of_hosts(),
            self.relocation.ports.binding(steps.BIND),
            self.checks.accepting(),
            places.SOURCE_HOST.step(
                'wait-for-turn',
                self.take_turn,
                calls=('take_live_migration_turn',),
                later=True,
                title='wait for other migrations of the source',
            ),
            self.relocation.volumes.step(),
            places.DEST_HOST.step(
                PREPARE,
                self.prepare,
                self.roll_dest_back,
                calls=('pre_live_migration', 'rollback_live_migration_at_destination'),
            ),
            places.SOURCE_HOST.step(
                COPY,
                self.copy,
                self.roll_source_back,
                calls=('live_migration', 'rollback_live_migration'),
            ),
            *self._arrived(),
        )

    def _arrived(self) -> saga.Steps:
        """Return the steps from the pivot on."""
        free_source = self.leaving.unless_left(self.allocation.free_source)
        return (
            self.relocation.switching(PREPARE, then=self._switched, later=True),
            places.DEST_HOST.best_effort(
                START, self.start, attempts=3, calls=('post_live_migration_at_destination',)
            ),
            self.relocation.ports.settling(steps.ACTIVATE),
            places.SOURCE_HOST.best_effort(
                CLEAN, self.clean_source, attempts=3, later=True, calls=('post_live_migration',)
            ),
            self.relocation.volumes.settling(steps.FORMER),
            places.PLACEMENT.step('free-source-allocation', free_source, later=True),
            places.SOURCE_RECORDS.step('record-end-of-migration', self.complete),
        )

    # ---- its steps ----

    @property
    def conductor_event(self) -> str:
        """Return the event that represents the super-conductor's work."""
        if self.arguments.synchronous:
            return 'conductor_migrate_server'
        return 'conductor_live_migrate_instance'

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        self.events.start_first(connection, self.conductor_event)
        return Began.of(self.scope.require_row(row))

    # ---- the hosts ----

    def _ask_source(self, method: asking.Method, row: rows.Row, **more: typing.Any) -> asking.Reply:
        instance = instance_objects.Instance.from_row(
            row, host=self.began.host, node=self.began.node
        )
        return self.checks.ask(
            method, move=self.uuid, host=self.began.host, instance=instance, **more
        )

    def _ask_dest(self, method: asking.Method, row: rows.Row, **more: typing.Any) -> asking.Reply:
        instance = instance_objects.Instance.from_row(row)
        return self.checks.ask(
            method, move=self.uuid, **self.dest.columns, instance=instance, **more
        )

    def _read(
        self, function: Callable[[sa.Connection, str], T], *hosts: str
    ) -> tuple[T, asking.Known]:
        """Read the server by a function of `instances`, and the services of hosts."""
        return asking.read(self.scope, function, self.instance_uuid, hosts=hosts)

    def take_turn(self) -> asking.Reply:
        """Wait in the queue of the migrations that leave the source."""
        if live_checks.TURN in self.results:
            return None
        row, known = self._read(instances.get, self.source.host)
        return self._ask_source(self.scope.compute.take_live_migration_turn, row, known=known)

    def prepare(self) -> asking.Reply:
        """Prepare the destination, and wait for the ports that it plugs before the copy."""
        host, made = self.dest.host, None
        if plugging.has_made(self.scope, host):
            row = self.scope.row()
            self.scope.require_task(row)
        else:
            (row, devices), known = self._begin_to_prepare()
            method, key = self.scope.compute.pre_live_migration, self.key(PREPARE)
            made = self.relocation.volumes.call(
                lambda arriving: self._ask_dest(
                    method, row, block_devices=arriving, key=key, known=known
                ),
                devices,
            )
        return plugging.plugged_before(self.scope, host, row, made)

    @scopes.transaction
    def _begin_to_prepare(
        self, connection: sa.Connection
    ) -> tuple[tuple[rows.Row, server_cell.Devices], asking.Known]:
        self.progress.note(connection, started=(PREPARE_EVENT, self.dest.host))
        found, uuid = server_cell.server_and_devices, self.instance_uuid
        return asking.with_services(connection, found, uuid, hosts=[self.dest.host])

    def roll_dest_back(self) -> saga.Pending | None:
        """Undo `prepare`, so that the destination no longer expects the guest."""
        self._begin_rollback()
        roll_back = self.scope.compute.rollback_live_migration_at_destination
        waits = self._ask_dest(
            roll_back, self.scope.require_row(self.scope.find()), key=self.key(PREPARE)
        )
        if isinstance(waits, saga.Pending):
            return waits
        self._rolled_dest_back()
        return None

    @scopes.transaction
    def _begin_rollback(self, connection: sa.Connection) -> None:
        if PREPARE in self.results:
            self.events.end(connection, PREPARE_EVENT, self.dest.host)
        self.events.start_once(connection, ROLLBACK_EVENT, self.dest.host)

    @scopes.transaction
    def _rolled_dest_back(self, connection: sa.Connection) -> None:
        self.events.end(connection, ROLLBACK_EVENT, self.dest.host)

    def copy(self) -> asking.Reply:
        """Copy the running guest, until it may start at the destination."""
        hosts = self.dest.host, self.source.host
        (row, has_begun), known = asking.read(self.scope, self._find_copy, hosts=hosts)
        self.scope.require_task(row)
        with self.checks.unless_evacuated(self.dest.host):
            asking.require_not_forced_down(self.scope, self.dest.host, known=known)
        if not has_begun:
            self._begin_copy()
        return self._ask_source(
            self.scope.compute.live_migration,
            row,
            ticket=self.results[PREPARE].ticket,
            block_migration=self._block_migration,
            key=self.key(COPY),
            known=known,
        )

    def _find_copy(self, connection: sa.Connection) -> tuple[rows.Row, bool]:
        """Return the server, and whether its copy was recorded to have begun."""
        has_begun = live_turns.has_begun(connection, self.uuid)
        return instances.get(connection, self.instance_uuid), has_begun

    @scopes.transaction
    def _begin_copy(self, connection: sa.Connection) -> None:
        """Record that the guest is copied, before its host is asked to.

        From now on the host must carry out an abort, because the guest may have left.
        """
        live_turns.begin_copy(connection, self.uuid)
        self.events.end(connection, PREPARE_EVENT, self.dest.host)

    @property
    def _block_migration(self) -> bool:
        wanted = self.arguments.block_migration
        return self.results[live_checks.CHECK_DEST].block_migration if wanted is None else wanted

    def roll_source_back(self) -> asking.Reply:
        """Undo `copy`: the guest runs at the source, unless the server is deleted."""
        row = self.scope.require_row(self.scope.find())
        if not instances.is_gone(row):
            with asking.unless_deleted(self.scope):
                waits = self._roll_source_back(row, False)
                if isinstance(waits, saga.Pending):
                    return waits
            row = self.scope.require_row(self.scope.find())
        return self._roll_source_back(row, True) if instances.is_gone(row) else None

    def _roll_source_back(self, row: rows.Row, gone: bool) -> asking.Reply:
        key = self.key(COPY) + ('/gone' if gone else '')
        return self._ask_source(self.scope.compute.rollback_live_migration, row, key=key, gone=gone)

    # ---- the switch and what follows it ----

    def _switched(self, connection: sa.Connection) -> None:
        """Record the counters of the copy, and begin the event of the destination."""
        counters = self.results[COPY].counters()
        if counters:
            migrations.update(connection, self.uuid, counters)
        self.events.start_first(connection, START_EVENT, self.dest.host)

    def start(self) -> asking.Reply:
        row, known = self._read(instances.find, self.dest.host)
        if row is None or instances.is_gone(row):
            return None
        return self._ask_dest(
            self.scope.compute.post_live_migration_at_destination,
            row,
            handover=self.results[COPY].handover,
            key=self.key(START),
            known=known,
        )

    def clean_source(self) -> asking.Reply:
        clean, key = self.scope.compute.post_live_migration, self.key(CLEAN)
        row, known = self._read(instances.find, self.source.host)
        return self._ask_source(clean, self.scope.require_row(row), key=key, known=known)

    def complete(self) -> None:
        """Clear the task, end the action and wake the next migration."""
        self.scope.write(self._complete)
        self._call_next()

    @scopes.ending
    def _complete(self, connection: sa.Connection) -> None:
        migration = live_migrations.lock(connection, self.uuid)
        failure = self.given_up.get(START) or (self.leaving.failure and self.given_up.get(CLEAN))
        columns: saga.Data = {}
        if failure:
            columns['vm_state'] = states.VmState.ERROR
            self.progress.add_fault(connection, failure)
        if START in self.given_up:
            columns['power_state'] = int(Power.NOSTATE)
        elif START in self.results:
            columns['power_state'] = self.results[START].power_state
        self.relocation.settle(connection, columns)
        self._end(connection, migration, Status.ERROR if failure else Status.COMPLETED)
        self.events.end_all(connection, failure or self.given_up.get(steps.ACTIVATE))

    # ---- the end of a migration that is undone ----

    def give_up(self) -> None:
        super().give_up()
        self._call_next()

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        migration = live_migrations.lock(connection, self.uuid)
        status = Status.FAILED if live_checks.CHECKED in self.results else Status.ERROR
        if migration is not None and live_migrations.ABORT in migration.data:
            status = Status.CANCELLED
        self._end(connection, migration, status)

    def _end(self, connection: sa.Connection, migration: rows.Row | None, status: str) -> None:
        """Set the last status of a locked migration. End the actions of commands that were late."""
        migrations.update(connection, self.uuid, {'status': str(status)})
        if self.has_begun:
            self._next = live_migrations.next_waiting(connection, self.source.host)
        asked_for = {} if migration is None else live_migrations.commands(migration)
        for command, asked in asked_for.items():
            fulfilled = status == FULFILLED.get(command)
            actions.finish_event(
                connection,
                self.instance_uuid,
                asked['request_id'],
                live_migrations.ANSWERS[command],
                host=self.began.host if self.has_begun else None,
                error=None if fulfilled else ENDED,
            )

    _next: str | None = None

    def _call_next(self) -> None:
        """Wake the migration that has waited longest at the source, before its next poll."""
        if self._next is not None:
            self.world.wake(self._next)
