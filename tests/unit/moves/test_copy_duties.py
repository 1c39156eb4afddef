"""Moves between cells that are undone while a cell's database is silent.

What they left there of the server is cleaned up once the database answers, unless the
server is in that cell by now, or a later move has its record there.
"""

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.lifecycle import intents
from nova_lite.moves import confirm
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.moves import steps
from nova_lite.moves.parts import cross_cell
from nova_lite.moves.parts import cross_cell_revert
from nova_lite.objects import selection
from nova_lite.saga import cleaning
from nova_lite.saga import engine
from nova_lite.saga import journal
from nova_lite.saga import retries
from nova_lite.saga import run
from nova_lite.states import transitions
from tests.fixtures import cell as cell_fixture
from tests.unit.superconductor import build_base

FLAVOR = cell_fixture.FLAVOR
# Attempts after which a saga is stuck.
LONGEST = 60


class Breaks(saga.Value):
    """breaks: cells to silence before the pivot"""

    breaks: list[str]


class MigrateArguments(resize.Arguments, Breaks):
    pass


class EndArguments(confirm.Arguments, Breaks):
    pass


class OnRecord:
    """The steps of a saga that change records, and one that breaks cells before the pivot."""

    names = ()

    def on_record(self, steps):
        found = [step for step in steps if step.id in self.names]
        if self.arguments.breaks:
            pivot = next((i for i, step in enumerate(found) if step.pivot), len(found))
            found.insert(pivot, saga.Step('break', self.fail))
        return tuple(found)

    def fail(self):
        for name in self.arguments.breaks:
            self.world.silence(name)
        raise exception.Conflict(reason='a test says so')


class Migrate(OnRecord, resize.Resize):
    arguments: MigrateArguments
    kind = 'cross-cell-migrate'
    names = (
        steps.MIGRATION,
        cross_cell.COPY,
        cross_cell.SHOW,
        cross_cell.SWITCH,
        cross_cell.HIDE,
    )

    def steps(self):
        return self.on_record(super().steps())


class Revert(OnRecord, revert.RevertResize):
    arguments: EndArguments
    kind = 'cross-cell-revert'
    names = (
        revert.RevertResize.first,
        cross_cell_revert.SHOW,
        cross_cell_revert.SWITCH,
        'hide-destination-records',
        'record-revert',
        'remove-destination-records',
    )

    def steps(self):
        return self.on_record(super().steps())


class Confirm(OnRecord, confirm.ConfirmResize):
    arguments: EndArguments
    kind = 'cross-cell-confirm'
    names = ('record-request', 'remove-source-records', 'record-confirmation')

    def steps(self):
        return self.on_record(super().steps())


KINDS = {kind.kind: kind for kind in (Migrate, Revert, Confirm)}
# {kind: (guard, action, what becomes of the migration)}
ORDERS = {
    Migrate: (transitions.MIGRATE, 'migrate', None),
    Revert: (transitions.REVERT_RESIZE, 'revertResize', 'reverting'),
    Confirm: (transitions.CONFIRM_RESIZE, 'confirmResize', 'confirming'),
}


class CopyDutiesTest(build_base.BuildTestCase):
    """A server of cell1; host-1 is in cell1 and host-2 in cell2."""

    def setUp(self):
        super().setUp()
        self.patch(run, 'FIRST_PAUSE_S', 0)
        self.world.silence = self.silence
        self.db = {name: self.cell(name).db for name in ('cell1', 'cell2')}
        self.server = runtime.new_uuid()
        row = {
            'uuid': self.server,
            'project_id': 'project',
            'user_id': 'user',
            'display_name': 'server',
            'hostname': 'server',
            'host': 'host-1',
            'node': 'host-1',
            'availability_zone': 'nova',
            'vm_state': 'active',
            'task_state': None,
            'vcpus': 1,
            'memory_mb': 512,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': FLAVOR,
        }
        self.db['cell1'].write(instances.create, [row])
        mapping = {'instance_uuid': self.server, 'project_id': 'project', 'user_id': 'user'}
        self.api_db.write(instance_mappings.create, {**mapping, 'vcpus': 1, 'memory_mb': 512})
        self.api_db.write(instance_mappings.place, [self.server], self.cell('cell1').id)

    # ---- cells ----

    def silence(self, name):
        """From now on the database of a cell does not answer."""

        def away(*_args, **_kwargs):
            raise exception.Unavailable(service=name, reason='a test says so')

        self.db[name].write = away

    def answer(self, name):
        del self.db[name].write

    def records(self):
        """{cell: (whether its record is hidden, whether it is sealed)}"""
        found = {name: db.read(instances.find, self.server) for name, db in self.db.items()}
        return {name: (row.hidden, row.sealed) for name, row in found.items() if row is not None}

    # ---- sagas ----

    def begin(self, kind, source, *, breaks=(), migration=None):
        """Accept a saga; its uuid. migration: the one that it ends"""
        guard, action, to = ORDERS[kind]
        claims, arguments = None, {'cell': self.cell_uuids[source], 'breaks': list(breaks)}
        if migration is not None:
            claims = {'uuid': migration, 'from': ['finished'], 'to': to}
            arguments['migration_uuid'] = migration
        order = intents.order(guard, action, claims=claims)
        arguments['order'] = order.as_dict()
        if migration is None:
            arguments['flavor'] = FLAVOR
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        uuid = runtime.new_uuid()
        values = {'uuid': uuid, 'kind': kind.kind, 'instance_uuid': self.server}
        self.api_db.write(sagas.create, ctxt, arguments=arguments, **values)
        self.db[source].write(moves.begin, ctxt, self.server, order)
        return uuid

    def migrate(self, source='cell1', dest='cell2', breaks=()):
        uuid = self.begin(Migrate, source, breaks=breaks)
        chosen = selection.Selection(
            service_host=f'host-{dest[-1]}',
            nodename=f'host-{dest[-1]}',
            compute_node_uuid=runtime.new_uuid(),
            cell_uuid=self.cell_uuids[dest],
            availability_zone='nova',
        )
        found = {steps.CHOOSE: chosen.as_dict(), cross_cell.SPAWN: {'power_state': 1}}
        self.api_db.write(rows.change, sagas.TABLE, {'data': found}, uuid=uuid)
        return uuid

    def attempt(self, uuid):
        """Run a saga once; its state then."""
        past = sagas.TABLE.update().where(sagas.TABLE.c.uuid == uuid)
        past = past.values(wake_at=sagas.TABLE.c.created_at)
        self.api_db.write(lambda connection: connection.execute(past))
        runner = engine.Engine(sagas.Journal(self.api_db), self.remake, owner='one')
        try:
            return runner.run(uuid)
        finally:
            runner.stop()

    def remake(self, row):
        ctxt = context.RequestContext.from_wire(row.context)
        return KINDS[row.kind](self.world, row, ctxt)

    def run_until(self, uuid, *wanted):
        for _attempt in range(LONGEST):
            state = self.attempt(uuid)
            if state in wanted:
                return
        raise AssertionError(f'saga {uuid} is {state}, not {wanted}')

    def owed(self, uuid, step):
        """The duty that a saga has for a step."""
        row = self.api_db.read(sagas.get, uuid)
        found = self.remake(row)
        found.data = dict(row.data[cleaning.DUTIES][0]['data'])
        return self.duty(found, step)

    def duty(self, made, name):
        return next(step.clean for step in made.steps() if step.id == name)

    def clean(self, uuid):
        self.run_until(uuid, journal.UNDONE)

    # ---- what a move leaves at its destination ----

    def left(self):
        """A move that was undone while cell2 was silent. Its copy is visible in cell2."""
        uuid = self.migrate(breaks=['cell2'])
        self.run_until(uuid, journal.CLEANING)
        self.assertEqual(journal.CLEANING, self.attempt(uuid))
        self.answer('cell2')
        self.assertEqual({'cell1': (False, False), 'cell2': (False, False)}, self.records())
        return uuid

    def test_a_copy_is_purged_when_its_cell_answers(self):
        uuid = self.left()
        row = self.db['cell1'].read(instances.find, self.server)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))
        self.clean(uuid)
        self.assertEqual({'cell1': (False, False)}, self.records())
        self.assertEqual([], self.db['cell2'].read(migrations.of_instance, self.server))

    def test_a_hidden_copy_is_purged_when_its_cell_answers(self):
        self.patch(Migrate, 'names', (steps.MIGRATION, cross_cell.COPY))
        uuid = self.migrate(breaks=['cell2'])
        self.run_until(uuid, journal.CLEANING)
        self.answer('cell2')
        self.assertEqual({'cell1': (False, False), 'cell2': (True, False)}, self.records())
        self.clean(uuid)
        self.assertEqual({'cell1': (False, False)}, self.records())

    def test_the_copy_of_a_server_that_was_deleted_is_purged(self):
        uuid = self.left()
        self.db['cell1'].write(instances.mark_deleted, self.server)
        self.clean(uuid)
        self.assertEqual(['cell1'], list(self.records()))

    def test_the_copy_of_a_server_that_was_purged_is_purged(self):
        uuid = self.left()
        self.db['cell1'].write(instances.purge, self.server)
        self.api_db.write(rows.delete, instance_mappings.TABLE, instance_uuid=self.server)
        self.clean(uuid)
        self.assertEqual({}, self.records())

    def test_the_record_stays_in_the_cell_that_has_the_server(self):
        uuid = self.left()
        self.run_until(self.migrate(), journal.DONE)
        there = {'cell1': (True, True), 'cell2': (False, False)}
        self.assertEqual(there, self.records())
        self.clean(uuid)
        self.assertEqual(there, self.records())

    def test_the_record_stays_of_a_move_that_was_refused_there_and_came_back(self):
        """It could not purge its copy, and then went to another host of the same cell."""
        uuid = self.migrate()
        self.run_until(uuid, journal.DONE)
        found = self.remake(self.api_db.read(sagas.get, uuid))
        self.duty(found, cross_cell.COPY).do()
        self.assertEqual({'cell1': (True, True), 'cell2': (False, False)}, self.records())

    def test_the_record_stays_that_a_later_move_may_return_to(self):
        uuid = self.left()
        there = self.migrate()
        self.run_until(there, journal.DONE)
        self.run_until(self.begin(Confirm, 'cell2', migration=there), journal.DONE)
        self.change('cell2', vm_state='active')
        self.run_until(self.migrate('cell2', 'cell1'), journal.DONE)
        here = {'cell1': (False, False), 'cell2': (True, True)}
        self.assertEqual(here, self.records())
        self.clean(uuid)
        self.assertEqual(here, self.records())

    def change(self, name, **values):
        self.db[name].write(instances.force, self.server, values)

    def test_it_may_be_repeated_wherever_it_was_killed(self):
        uuid = self.left()
        duty = self.owed(uuid, cross_cell.COPY)
        for _time in range(2):
            duty.do()
        self.assertEqual(['cell1'], list(self.records()))
        self.clean(uuid)

    def test_one_that_was_taken_over_purges_no_later_copy(self):
        """It has looked where the server is, and sleeps until another move is under way."""
        uuid = self.left()
        duty = self.owed(uuid, cross_cell.COPY)
        of_instance = self.cells.of_instance

        def sleep(server):
            found = of_instance(server)
            self.run_until(self.migrate(), journal.DONE)
            return found

        self.patch(self.cells, 'of_instance', sleep)
        duty.do()
        self.assertEqual({'cell1': (True, True), 'cell2': (False, False)}, self.records())

    def test_a_server_whose_own_cell_was_silent_is_not_sealed(self):
        uuid = self.migrate(breaks=['cell1'])
        for _attempt in range(2 * retries.MANY_ATTEMPTS + 4):
            self.attempt(uuid)
        self.answer('cell1')
        self.run_until(uuid, journal.UNDONE, journal.CLEANING)
        self.assertEqual({'cell1': (False, False)}, self.records())
        row = self.db['cell1'].read(instances.find, self.server)
        self.assertEqual(('active', None), (row.vm_state, row.task_state))

    # ---- what a revert leaves at the source ----

    def shown(self):
        """A revert that was undone while cell1 was silent; its uuid, and of its migration."""
        migration = self.migrate()
        self.run_until(migration, journal.DONE)
        uuid = self.begin(Revert, 'cell2', migration=migration, breaks=['cell1'])
        self.run_until(uuid, journal.CLEANING)
        self.answer('cell1')
        self.assertEqual({'cell1': (False, False), 'cell2': (False, False)}, self.records())
        return uuid, migration

    def test_the_source_is_hidden_when_its_cell_answers(self):
        uuid, _migration = self.shown()
        row = self.db['cell2'].read(instances.find, self.server)
        self.assertEqual(('resized', None), (row.vm_state, row.task_state))
        self.clean(uuid)
        self.assertEqual({'cell1': (True, False), 'cell2': (False, False)}, self.records())
        found = self.db['cell1'].read(migrations.of_instance, self.server)
        self.assertEqual([True], [each.hidden for each in found])

    def test_the_source_stays_shown_when_the_server_has_returned(self):
        uuid, migration = self.shown()
        again = self.begin(Revert, 'cell2', migration=migration)
        self.run_until(again, journal.DONE)
        self.assertEqual({'cell1': (False, False)}, self.records())
        self.clean(uuid)
        self.assertEqual({'cell1': (False, False)}, self.records())

    def test_one_that_was_taken_over_hides_no_server(self):
        """It has looked where the server is, and sleeps until that has returned."""
        uuid, migration = self.shown()
        duty = self.owed(uuid, cross_cell_revert.SHOW)
        of_instance = self.cells.of_instance

        def sleep(server):
            found = of_instance(server)
            again = self.begin(Revert, 'cell2', migration=migration)
            self.patch(self.cells, 'of_instance', of_instance)
            self.run_until(again, journal.DONE)
            return found

        self.patch(self.cells, 'of_instance', sleep)
        self.assertRaises(exception.StateChanged, duty.do)
        self.assertEqual({'cell1': (False, False)}, self.records())
