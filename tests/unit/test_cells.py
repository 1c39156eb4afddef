"""Reads from all cells: one that hangs delays a read by the timeout at most."""

import types

import fixtures
from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite import cells
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import stamps
from tests.fixtures import compute_api


def _answer(_connection):
    return 'here'


class TestScatter(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(compute_api.ComputeApi())
        self.cells = self.api.cells
        self.cells.timeout_s = 300
        self.begun = []
        self.release = runtime.Event()
        self.addCleanup(self.release.set)

    def hang(self, cell):
        """Make every read of the cell wait until the test ends."""
        read = cell.db.read

        def hanging(function, *args, **kwargs):
            self.begun.append(cell)
            self.release.wait()
            return read(function, *args, **kwargs)

        cell.db.read = hanging

    def ask(self):
        found = self.cells.scatter(_answer)
        return {cell.name: answer for cell, answer in found.items()}

    def test_all_answer(self):
        self.assertEqual({'cell0': 'here', 'cell1': 'here', 'cell2': 'here'}, self.ask())

    def test_one_has_a_malformed_url(self):
        cell2 = self.api.cell('cell2')
        for url in ('nonsense', 'mysql+pymysql://nova@db:port/cell2'):
            values = {'database_connection': url}
            self.cells.api_db.write(cell_mappings.update, cell2.uuid, values)
            known = cells.Cells(self.cells.conf, self.cells.api_db)
            self.addCleanup(known.close)
            found = {cell.name: answer for cell, answer in known.scatter(_answer).items()}
            self.assertIsInstance(found.pop('cell2').error, sa.exc.ArgumentError)
            self.assertEqual({'cell0': 'here', 'cell1': 'here'}, found)

    def test_one_is_mapped_anew(self):
        """Its mapping has another id, by which servers are mapped to it."""
        cell0 = self.cells.cell0
        row = self.cells.api_db.read(cell_mappings.get, cell0.uuid)
        values = {**row._mapping, 'id': 99}
        self.cells.api_db.write(cell_mappings.destroy, cell0.uuid)
        self.cells.api_db.write(cell_mappings.create, values)
        self.assertEqual(cell0.uuid, self.cells.by_id(99).uuid)
        self.assertEqual(99, self.cells.cell0.id)

    def test_one_is_deleted_and_mapped_again(self):
        """Its id names a cell that a process does not know yet: SQLite assigns the last id anew."""
        cell2, write = self.cells.every()[-1], self.cells.api_db.write
        row = self.cells.api_db.read(cell_mappings.get, cell2.uuid)
        write(cell_mappings.destroy, cell2.uuid)
        uuid = runtime.new_uuid()
        values = {
            'uuid': uuid,
            'name': row.name,
            'transport_url': row.transport_url,
            'database_connection': row.database_connection,
            'disabled': False,
        }
        self.assertEqual(uuid, self.cells.by_id(write(cell_mappings.create, values)).uuid)
        self.assertNotIn(cell2.uuid, [cell.uuid for cell in self.cells.every()])

    def test_one_is_mapped_by_another_process(self):
        """The next request that names the new stamp finds it."""
        api_db = self.cells.api_db
        known = cells.Cells(self.cells.conf, api_db)
        self.addCleanup(known.close)
        uuid = known.every()[-1].uuid
        api_db.write(cell_mappings.destroy, uuid)
        known.follow(api_db.read(stamps.every))
        self.assertIn(uuid, [cell.uuid for cell in known.every()])
        api_db.write(stamps.bump, stamps.CELLS)
        known.follow(api_db.read(stamps.every))
        self.assertNotIn(uuid, [cell.uuid for cell in known.every()])

    def test_one_is_mapped_while_another_thread_reads(self):
        """No thread believes that the cells are new before they are."""
        api_db = self.cells.api_db
        known = cells.Cells(self.cells.conf, api_db)
        self.addCleanup(known.close)
        values = dict(api_db.read(cell_mappings.get, known.every()[-1].uuid)._mapping, id=99)
        values |= {'uuid': runtime.new_uuid(), 'transport_url': 'memory://other'}
        api_db.write(cell_mappings.create, values)
        api_db.write(stamps.bump, stamps.CELLS)
        found, threads = [], []

        def list_cells():
            known.follow(api_db.read(stamps.every))
            found.extend(cell.id for cell in known.every())

        def watch(_cell):
            threads.append(runtime.spawn(list_cells))
            threads[0].join(0.3)

        known.watch = watch
        known.follow(api_db.read(stamps.every))
        threads[0].join()
        self.assertIn(99, found)

    def test_one_hangs(self):
        self.ask()  # so that all are connected
        self.cells.timeout_s = 2
        self.hang(self.api.cell('cell2'))
        found = self.ask()
        self.assertEqual(('here', 'here'), (found['cell0'], found['cell1']))
        self.assertIsInstance(found['cell2'], cells.Unreachable)
        self.assertIsInstance(found['cell2'].error, exception.CellTimeout)
        self.assertEqual(
            ({'cell0': 'here', 'cell1': 'here'}, {'cell2': found['cell2']}), cells.split(found)
        )

    def test_others_keep_their_threads(self):
        """A cell whose threads all hang is not waited for at all, until one is free."""
        down = self.api.cell('cell2')
        self.hang(down)
        self.cells.timeout_s = 0.05
        while len(self.begun) < cells.READERS:
            self.ask()
        self.cells.timeout_s = 300
        started = runtime.monotonic()
        found = self.ask()
        self.assertTrue(runtime.monotonic() - started < 60)
        self.assertEqual(('here', 'here'), (found['cell0'], found['cell1']))
        self.assertIsInstance(found['cell2'], cells.Unreachable)
        self.release.set()
        while down._hanging:
            runtime.sleep(0.001)
        self.assertEqual('here', self.ask()['cell2'])

    def test_one_fails_in_its_own_way(self):
        """A cell whose schema is not there, say, costs the others nothing."""

        def fail(_connection):
            raise db_exception.DBNonExistentTable('instances')

        cell = self.api.cell('cell2')
        read = cell.db.read
        cell.db.read = lambda *_args, **_kwargs: read(fail)
        self.cells.timeout_s = 300
        found = self.ask()
        self.assertEqual(('here', 'here'), (found['cell0'], found['cell1']))
        self.assertIsInstance(found['cell2'], cells.Unreachable)


class ClientsTest(testtools.TestCase):
    def test_one_client_for_each_cell(self):
        def cell(uuid):
            return types.SimpleNamespace(uuid=uuid)

        made = []
        clients = cells.Clients(lambda cell: made.append(cell) or f'client {len(made)}')
        first, second, changed = cell('first'), cell('second'), cell('first')
        self.assertEqual('client 1', clients.of(first))
        self.assertEqual('client 2', clients.of(second))
        self.assertEqual('client 1', clients.of(first))
        self.assertEqual('client 3', clients.of(changed))
        self.assertEqual([first, second, changed], made)
