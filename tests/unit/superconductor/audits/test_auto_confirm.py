"""The search for moves that wait for their confirmation."""

import datetime
import functools

import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.states import transitions
from nova_lite.superconductor.audits import auto_confirm
from tests.unit.conductor import base
from tests.unit.superconductor import build_base


class FinishedTest(base.CellConductorTestCase):
    def moved(self, uuid, **more):
        """A server was moved and waits; the migration's uuid."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'migration_type': 'resize',
            'status': 'finished',
            **more,
        }
        self.cell.db.write(migrations.create, values)
        return values['uuid']

    def found(self):
        """{migration: (vm_state, task_state, deleted) of its server, or None}"""
        return {
            migration.uuid: server and (server.vm_state, server.task_state, server.deleted)
            for migration, server in self.cell.db.read(auto_confirm.finished)
        }

    def test_with_their_servers(self):
        _ctxt, waits = self.server(vm_state='resized', task_state=None)
        _ctxt, deleted = self.server(vm_state='resized', task_state='deleting')
        self.cell.db.write(instances.mark_deleted, deleted)
        self.assertEqual(
            {
                self.moved(waits): ('resized', None, False),
                self.moved(deleted): ('deleted', None, True),
                self.moved(runtime.new_uuid()): None,
            },
            self.found(),
        )

    def test_no_others(self):
        _ctxt, uuid = self.server()
        for values in (
            {'status': 'confirmed'},
            {'hidden': True},
            {'migration_type': 'live-migration'},
        ):
            self.moved(uuid, **values)
        self.assertEqual({}, self.found())

    def test_one_statement_for_many(self):
        for _number in range(3):
            self.moved(self.server(vm_state='resized', task_state=None)[1])
        statements = []

        def note(_connection, _cursor, statement, *_more):
            statements.append(statement)

        engine = self.cell.db.engine
        sa.event.listen(engine, 'before_cursor_execute', note)
        self.addCleanup(sa.event.remove, engine, 'before_cursor_execute', note)
        self.assertEqual(3, len(self.found()))
        self.assertEqual(1, len([each for each in statements if 'SELECT' in each]))


class Compute(build_base.Compute):
    """Hosts that confirm what they are told to."""

    def confirm_resize(self, ctxt, **_what):
        return None


class CellAwayTest(build_base.BuildTestCase):
    def setUp(self):
        super().setUp()
        self.world.compute = lambda cell: Compute()

    def moved(self, **more):
        """A move to cell2 whose server is gone; the uuid of its migration."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': runtime.new_uuid(),
            'migration_type': 'resize',
            'status': 'finished',
            **more,
        }
        self.cell('cell2').db.write(migrations.create, values)
        return values['uuid']

    def status(self, uuid):
        return self.cell('cell2').db.read(migrations.get, uuid).status

    def test_a_source_that_is_away_holds_up_no_other(self):
        across = self.moved(source_compute='host-1', cross_cell_move=True)
        within = self.moved(source_compute='host-2')
        self.away('cell1')
        auto_confirm.AutoConfirm(self.world, run_saga=None).run()
        self.assertEqual(('finished', 'error'), (self.status(across), self.status(within)))

    def create(self, *cells, **more):
        """Create records of the server in cells, each with a host that is up."""
        row = {
            'uuid': self.uuid,
            'project_id': 'p',
            'user_id': 'u',
            'display_name': 'x',
            'vm_state': 'resized',
            'vcpus': 1,
            'memory_mb': 512,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': build_base.FLAVOR,
            **more,
        }
        for cell in cells:
            cell.db.write(instances.create, [row])
            cell.db.write(services.beat, ['host-1'], services.COMPUTE, 'compute')

    def test_a_resize_whose_server_was_reset_is_confirmed_at_once(self):
        """An automatic confirmation of the others is switched off."""
        cell2 = self.cell('cell2')
        self.api_db.write(instance_mappings.place, [self.uuid], cell2.id)
        self.create(cell2)
        reset = self.moved(instance_uuid=self.uuid, source_compute='host-1')
        ran = []
        for state, task, begun in (
            ('resized', None, 0),
            ('active', 'powering-off', 0),
            ('active', None, 1),
            ('active', None, 1),
        ):
            states = {'vm_state': state, 'task_state': task}
            cell2.db.write(instances.force, self.uuid, states)
            auto_confirm.AutoConfirm(self.world, run_saga=ran.append).run()
            self.assertEqual(begun, len(ran))
        self.assertEqual('confirming', self.status(reset))
        (saga,) = self.api_db.read(sagas.every)
        self.assertEqual(('confirm-resize', ran[0]), (saga.kind, saga.uuid))
        self.assertEqual(reset, saga.arguments['migration_uuid'])

    def test_no_move_begins_before_it_is_confirmed(self):
        """The confirmation could remove what the move has put on the source."""
        cell2 = self.cell('cell2')
        self.create(cell2, vm_state='active', host='host-2', old_flavor=build_base.FLAVOR)
        reset = self.moved(instance_uuid=self.uuid, source_compute='host-1')
        order = intents.order(transitions.MIGRATE, 'migrate')
        begin = functools.partial(cell2.db.write, moves.begin, context.admin(), self.uuid, order)
        self.assertRaises(moves.UnconfirmedResize, begin)
        cell2.db.write(migrations.update, reset, {'status': 'confirmed'})
        self.assertTrue(begin())

    def test_a_copy_that_an_undone_move_left_is_not_confirmed(self):
        """A confirmation would remove the server from the cell that has it."""
        self.world.conf.set_override('resize_confirm_window', 1)
        cell1, cell2 = self.cell('cell1'), self.cell('cell2')
        self.api_db.write(instance_mappings.place, [self.uuid], cell1.id)
        self.create(cell1, cell2)
        long_ago = runtime.naive_now() - datetime.timedelta(hours=1)
        more = {'source_compute': 'host-1', 'cross_cell_move': True, 'updated_at': long_ago}
        copied = self.moved(instance_uuid=self.uuid, **more)
        auto_confirm.AutoConfirm(self.world, run_saga=None).run()
        self.assertEqual('finished', self.status(copied))
        self.assertEqual([], self.api_db.read(sagas.every))
        # The server was deleted since: its record stays where it is.
        cell2.db.write(instances.mark_deleted, self.uuid)
        auto_confirm.AutoConfirm(self.world, run_saga=None).run()
        self.assertIsNotNone(cell1.db.read(instances.find, self.uuid))
