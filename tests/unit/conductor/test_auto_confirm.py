"""The search for moves that wait for their confirmation."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.conductor import auto_confirm
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from tests.unit.conductor import base
from tests.unit.conductor import build_base


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
