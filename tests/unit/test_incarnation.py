"""Incarnations: what has begun is waited for, and nothing begins after the end."""

import os

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite import cells
from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from nova_lite.lab import memory_broker
from nova_lite.rpc import transport
from nova_lite.virt.sim import store


class IncarnationTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.first = incarnation.Incarnation()

    def test_what_has_begun_is_waited_for(self):
        begun, over = runtime.Event(), runtime.Event()

        def effect():
            with self.first.passing():
                begun.set()
                runtime.wait(over)

        thread = runtime.spawn(effect)
        runtime.wait(begun)
        self.assertFalse(self.first.end(0.01))
        over.set()
        thread.join()
        self.assertTrue(self.first.end(1))

    def test_nothing_begins_after_the_end(self):
        self.first.end(0)
        with testtools.ExpectedException(exception.Unavailable, '.*was reset'):
            with self.first.passing():
                self.fail('It has begun')
        self.assertTrue(self.first.end(0))

    def test_a_database_is_taken_down(self):
        directory = self.useFixture(fixtures.TempDir()).path
        with incarnation.within(self.first):
            one, other = (
                transactions.Database(f'sqlite:///{directory}/{name}') for name in ('one', 'other')
            )
        for each in (one, other):
            self.addCleanup(each.dispose)
        self.first.take_down(one.url)
        error = self.assertRaises(exception.Unavailable, one.read, self.ask)
        self.assertIn('injected fault', str(error))
        self.assertEqual(1, other.read(self.ask))
        self.first.bring_up(one.url)
        self.first.bring_up(one.url)
        self.assertEqual(1, one.write(self.ask))

    def ask(self, connection):
        return connection.scalar(sa.text('SELECT 1'))

    def test_objects_belong_to_the_current_one(self):
        memory_broker.install()
        later = self.first.next()
        with incarnation.within(self.first):
            before = transport.driver_url('embedded://x')
            with incarnation.within(later):
                self.assertIs(later, incarnation.current())
                after = transport.driver_url('embedded://x')
        self.assertIs(incarnation.ENDLESS, incarnation.current())
        self.assertNotEqual(before, after)
        self.assertEqual(before, transport.driver_url('embedded://x', self.first))


class TransactionsTest(testtools.TestCase):
    """A transaction that ran when the incarnation ended is not committed."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.first = incarnation.Incarnation()

    def test_of_a_database(self):
        url = f'sqlite:///{self.directory}/x.sqlite'
        with incarnation.within(self.first):
            database = transactions.Database(url)
        self.addCleanup(database.dispose)
        database.write(lambda connection: connection.execute(sa.text('CREATE TABLE t (a)')))
        count = sa.text('SELECT count(*) FROM t')

        def insert(connection):
            connection.execute(sa.text('INSERT INTO t VALUES (1)'))
            self.first.end(0)

        self.assertRaises(exception.Unavailable, database.write, insert)
        self.assertRaises(exception.Unavailable, database.read, insert)
        other = transactions.Database(url)
        self.addCleanup(other.dispose)
        self.assertEqual(0, other.read(lambda connection: connection.scalar(count)))

    def test_of_guests(self):
        path = os.path.join(self.directory, 'guests.sqlite')
        with incarnation.within(self.first):
            kept = store.Store(path)
        self.addCleanup(kept.close)
        with testtools.ExpectedException(exception.Unavailable):
            with kept.write() as tx:
                tx.execute("INSERT INTO counters VALUES ('x', 1)")
                self.first.end(0)
        with kept.read() as tx:
            self.assertEqual([], tx.execute('SELECT * FROM counters').fetchall())

    def test_of_cells_that_are_found_later(self):
        """Their databases and buses are opened by threads that may not have ended yet."""
        conf = self.useFixture(Mapped(self.directory))
        with incarnation.within(self.first):
            found = cells.Cells(conf.conf, conf.database)
        self.addCleanup(found.close)
        (cell,) = found.every()
        self.first.end(0)
        self.assertRaises(exception.Unavailable, cell.db.read, lambda connection: None)


class Mapped(fixtures.Fixture):
    """An API database with one cell mapping."""

    def __init__(self, directory):
        super().__init__()
        self._directory = directory

    def _setUp(self):
        url = f'sqlite:///{self._directory}/api.sqlite'
        schema_migration.upgrade(url, 'api')
        self.conf = conf_module.make_conf(files=[])
        self.database = transactions.Database(url)
        self.addCleanup(self.database.dispose)
        values = {
            'uuid': runtime.new_uuid(),
            'name': 'cell1',
            'disabled': False,
            'transport_url': 'embedded://cell1',
            'database_connection': f'sqlite:///{self._directory}/cell1.sqlite',
        }
        self.database.write(cell_mappings.create, values)
