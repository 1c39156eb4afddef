"""Live migration within a cell (reference/nova/moves 4).

The guest runs on the source until its memory is copied, so all before that is undone
without it noticing. The pivot is the one transaction that switches the record, made
when the source has handed the guest over and before the destination may start it:
from then on there is one place where it can run.
"""

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import live_checks
from nova_lite.moves.parts import relocation

Status = states.MigrationStatus
Power = states.PowerState

PREPARE = 'prepare destination'
COPY = 'copy'
START = 'start guest on destination'
CLEAN = 'clean up source'
PREPARE_EVENT = 'compute_pre_live_migration'
START_EVENT = 'compute_post_live_migration_at_destination'
ROLLBACK_EVENT = 'compute_rollback_live_migration_at_destination'
ENDED = 'The live migration had ended.'
ABORTED = 'LiveMigrationAborted'
# How a migration ends as who wished something of it wanted, even if nobody carried it out.
FULFILLED = {
    live_migrations.ABORT: Status.CANCELLED,
    live_migrations.FORCE_COMPLETE: Status.COMPLETED,
}


class LiveMigration(move.Move):
    """To another host without stopping.

    arguments: 'block_migration': whether disks are copied, None to have the hosts say;
        'synchronous': the API waits for the checks; 'forced'
    """

    kind = 'live-migration'
    first = relocation.BEGIN
    tasks = transitions.LIVE_MIGRATE.tasks
    refusable = (
        steps.RECORD,
        live_checks.CHECK_DEST,
        live_checks.CHECK_SOURCE,
        steps.BIND,
    )

    def steps(self):
        return (
            steps.begin(self),
            self.checks.of_server(),
            steps.hold(self),
            steps.choose(self),
            self.relocation.recording(),
            *self.checks.of_hosts(),
            self.relocation.ports.binding(steps.BIND),
            self.checks.accepting(),
            places.SOURCE_HOST.step(
                'wait for a turn at source', self.take_turn, calls=('take_live_migration_turn',)
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

    def _arrived(self):
        """From the switch on there is no way back."""
        return (
            self.relocation.switching(self._connected, then=self._switched),
            places.DEST_HOST.patient(
                START, self.start, attempts=3, calls=('post_live_migration_at_destination',)
            ),
            self.relocation.ports.settling(steps.ACTIVATE),
            places.SOURCE_HOST.patient(
                CLEAN, self.clean_source, attempts=3, calls=('post_live_migration',)
            ),
            self.relocation.volumes.settling(steps.FORMER),
            places.PLACEMENT.step('free source allocation', self.free_source),
            places.SOURCE_RECORDS.step('tell that it is complete', self.complete),
        )

    # ---- what it consists of ----

    @property
    def relocation(self):
        return relocation.Relocation(
            self, holder=self.migration_uuid, require_fit=self.checks.require_fit
        )

    @property
    def checks(self):
        return live_checks.LiveChecks(self, self._conductor_event)

    @property
    def _conductor_event(self):
        """The event that stands for the super-conductor's work."""
        if self.arguments.get('synchronous'):
            return 'conductor_migrate_server'
        return 'conductor_live_migrate_instance'

    def begun(self, connection, row):
        return self.relocation.begin(connection, row, self._conductor_event)

    @property
    def may_retry(self):
        return not self.relocation.is_forced

    def choose(self):
        return self.relocation.choose(self.spec)

    @property
    def not_undone(self):
        """What stays at a destination does not break a server that runs at its source."""
        mine = (relocation.BEGIN, steps.HOLD, COPY)
        return {name: error for name, error in super().not_undone.items() if name in mine}

    # ---- the hosts ----

    def take_turn(self):
        """live_migration: queue at the source until it may begin."""
        return self.relocation.ask(
            self.began['host'],
            self.compute.take_live_migration_turn,
            instance=self.instance(self.row()),
            move=self.uuid,
        )

    def prepare(self):
        """pre_live_migration."""
        host = self.destination.service_host
        self.progress(started=(PREPARE_EVENT, host))
        return self.relocation.ask(
            host,
            self.compute.pre_live_migration,
            instance=self.instance(self.row()),
            node=self.destination.nodename,
            block_devices=self.relocation.volumes.arriving(),
            move=self.uuid,
            key=self.key(PREPARE),
        )

    def roll_dest_back(self):
        """Undo of `prepare`: the destination awaits no guest."""
        host = self.destination.service_host
        row = self.find()
        waits = self.relocation.ask(
            host,
            self.compute.rollback_live_migration_at_destination,
            instance=self.instance(row),
            node=self.destination.nodename,
            move=self.uuid,
            key=self.key(PREPARE),
        )
        if isinstance(waits, saga.Pending):
            return waits
        self.write(self._rolled_dest_back, host)
        return None

    def _rolled_dest_back(self, connection, host):
        if PREPARE in self.data:
            self.end_event(connection, PREPARE_EVENT, host)
        self.end_event(connection, ROLLBACK_EVENT, host)

    def copy(self):
        """The source copies the running guest; ends when the guest may start elsewhere."""
        row = self.row()
        self._require_migrating(row)
        self.relocation.require_up(self.destination.service_host)
        return self.relocation.ask(
            self.began['host'],
            self.compute.live_migration,
            instance=self.instance(row),
            ticket=self.data[PREPARE]['ticket'],
            block_migration=self._block_migration,
            move=self.uuid,
            key=self.key(COPY),
        )

    def _require_migrating(self, row):
        if row.task_state not in self.tasks:
            raise exception.StateChanged(
                what='Instance', key=row.uuid, detail=f'found task {row.task_state}'
            )

    @property
    def _block_migration(self):
        wanted = self.arguments['block_migration']
        return self.data[live_checks.CHECK_DEST]['block_migration'] if wanted is None else wanted

    def roll_source_back(self):
        """Undo of `copy`: the guest runs at the source, if there is a server."""
        row = self.find()
        gone = instances.is_gone(row)
        waits = self._roll_source_back(row, gone)
        if isinstance(waits, saga.Pending) or gone:
            return waits
        row = self.find()
        return self._roll_source_back(row, True) if instances.is_gone(row) else None

    def _roll_source_back(self, row, gone):
        return self.relocation.ask(
            self.began['host'],
            self.compute.rollback_live_migration,
            instance=self.instance(row),
            move=self.uuid,
            key=self.key(COPY) + ('/gone' if gone else ''),
            gone=gone,
        )

    # ---- the switch and what follows it ----

    def _connected(self):
        return self.data[PREPARE]['block_devices']

    def _switched(self, connection):
        """Keep the counters of the copy, and begin the event of the destination."""
        counters = {
            name: value
            for name, value in self.data[COPY].items()
            if name.startswith(('memory_', 'disk_'))
        }
        if counters:
            migrations.update(connection, self.uuid, counters)
        host = self.destination.service_host
        self.end_event(connection, PREPARE_EVENT, host)
        self.start_event(connection, START_EVENT, host)

    def start(self):
        """post_live_migration_at_destination."""
        row = self.find()
        if instances.is_gone(row):
            return None
        return self.relocation.ask(
            self.destination.service_host,
            self.compute.post_live_migration_at_destination,
            instance=self.instance(row),
            node=self.destination.nodename,
            handover=self.data[COPY]['handover'],
            move=self.uuid,
            key=self.key(START),
        )

    def clean_source(self):
        """post_live_migration: nothing of the guest stays at the source."""
        row = self.find()
        return self.relocation.ask(
            self.began['host'],
            self.compute.post_live_migration,
            instance=self.instance(row, host=self.began['host'], node=self.began['node']),
            move=self.uuid,
            key=self.key(CLEAN),
        )

    def free_source(self):
        """Give back what the migration held."""
        self.world.placement.delete_allocations(self.ctxt, self.migration_uuid, force=True)

    def complete(self):
        """The last of it: the server is its user's again."""
        self.write(self._complete)
        self._call_next()

    def _complete(self, connection):
        failure = self.left.get(START)
        columns = {}
        if failure:
            columns['vm_state'] = states.VmState.ERROR
            columns['power_state'] = int(Power.NOSTATE)
            self.add_fault(connection, failure)
        elif self.data.get(START):
            columns['power_state'] = self.data[START]['power_state']
        self.relocation.settle(connection, columns)
        self._end(connection, Status.COMPLETED)
        self.end_events(connection, error=failure)

    # ---- the end of a migration that is undone ----

    def give_up(self):
        super().give_up()
        self._call_next()

    def undone(self, connection, row):
        migration = live_migrations.lock(connection, self.uuid)
        if live_migrations.ABORT in migration.data:
            self._end(connection, Status.CANCELLED)
        elif self.data.get('checked'):
            self._end(connection, Status.FAILED)
        else:
            self._end(connection, Status.ERROR)

    def _end(self, connection, status):
        """The migration's last status, and an answer to what operators wished too late."""
        migration = live_migrations.lock(connection, self.uuid)
        migrations.update(connection, self.uuid, {'status': str(status)})
        if relocation.BEGIN in self.data:
            self._next = live_migrations.next_waiting(connection, self.began['host'])
        for wish, asked in live_migrations.wishes(migration).items():
            fulfilled = status == FULFILLED.get(wish)
            actions.finish_event(
                connection,
                self.instance_uuid,
                asked['request_id'],
                live_migrations.ANSWERS[wish],
                host=self.began['host'] if relocation.BEGIN in self.data else None,
                error=None if fulfilled else ENDED,
            )

    _next = None

    def _call_next(self):
        """Let who waits for longest at the source take its turn now, not at its next look."""
        if self._next is not None:
            self.world.wake(self._next)

    def add_fault(self, connection, error):
        """An abort is no fault."""
        if error['type'] != ABORTED:
            super().add_fault(connection, error)

    def end_events(self, connection, *, error=None):
        """An abort is told by the event of its own action."""
        if error and error['type'] == ABORTED:
            error = None
        super().end_events(connection, error=error)
