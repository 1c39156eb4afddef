"""Setup of a cloud: its databases, and waiting for its hosts."""

import os
import sqlite3

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import schema_migration
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import setup
from tests.fixtures import clock

HOSTS = [f'host-{number}' for number in range(10000)]


class WaitTest(testtools.TestCase):
    """`up` lists many hosts only when the last one is there."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(clock.PassingRuntime())).runtime
        self.looks, self.lists = 0, 0

    def wait(self, find, **options):
        """Wait for all hosts. find: returns those that are there after so many seconds.

        Return the seconds.
        """
        began = runtime.monotonic()

        def counted(name=None):
            there = find(runtime.monotonic() - began)
            if name is not None:
                self.looks += 1
                return {name} & there
            self.lists += 1
            return there

        setup._wait(HOSTS, counted, 'are missing', deadline=began + 1000, **options)
        return runtime.monotonic() - began

    def test_many(self):
        for rate in (99, 61):
            self.looks, self.lists = 0, 0
            took = self.wait(
                lambda passed, rate=rate: {*HOSTS[: round(rate * passed)]},
                look_s=0.5,
                one_first=True,
            )
            self.assertLess(took, 10000 / rate + 0.6)
            self.assertEqual(1, self.lists)

    def test_again(self):
        """Hosts that are there are found at once."""
        self.assertEqual(0, self.wait(lambda _: {*HOSTS}, one_first=True))
        self.assertEqual((1, 1), (self.looks, self.lists))

    def test_others_come_later_than_the_last(self):
        late = {HOSTS[7]: 3, HOSTS[9]: 5, HOSTS[-1]: 1}
        took = self.wait(
            lambda passed: {*HOSTS} - {host for host, at in late.items() if passed < at},
            one_first=True,
        )
        self.assertLess(took, 5.2)
        self.assertEqual(2, self.lists)

    def test_few(self):
        """Each look lists all."""
        self.assertLess(self.wait(lambda passed: {*HOSTS[: round(20000 * passed)]}), 0.7)
        self.assertEqual(0, self.looks)

    def test_deadline(self):
        """The error counts hosts that are missing at that time."""
        error = self.assertRaises(
            exception.Unavailable, self.wait, lambda _: {*HOSTS[3:9000]}, one_first=True
        )
        self.assertIn('1003 hosts are missing, for example host-0', str(error))
        self.assertEqual(1, self.lists)


class DatabasesTest(testtools.TestCase):
    """The first cells of a new cloud are copies of cell0; others get their schema by revisions."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path

    def make(self, cells):
        """Create the databases; return {name of a cell: its schema as SQL}."""
        places = layout.Layout(layout.Settings(state_dir=self.directory, cells=cells))
        setup.databases(places)
        found = {}
        for name in (layout.CELL0, *places.cell_names):
            self.assertEqual(
                schema_migration.newest('cell'),
                schema_migration.version(places.database_url(name), 'cell'),
            )
            with sqlite3.connect(self.path(name)) as connection:
                rows = connection.execute('SELECT sql FROM sqlite_master ORDER BY type, name')
                found[name] = list(rows)
            connection.close()
        return found

    def path(self, name):
        return os.path.join(self.directory, 'db', f'{name}.sqlite')

    def test_schemas_are_equal(self):
        found = self.make(2)
        self.assertEqual({'cell0', 'cell1', 'cell2'}, set(found))
        self.assertEqual(found['cell0'], found['cell1'])
        found = self.make(3)
        self.assertEqual(1, len({str(each) for each in found.values()}))

    def test_a_cell_that_exists_is_no_copy(self):
        self.make(2)
        with sqlite3.connect(self.path('cell1')) as connection:
            connection.execute('CREATE TABLE kept (id)')
        connection.close()
        os.unlink(self.path('cell0'))
        self.assertIn(('CREATE TABLE kept (id)',), self.make(2)['cell1'])

    def test_a_copy_that_was_interrupted(self):
        """An empty file is what remains of it after its rollback."""
        self.make(1)
        os.unlink(self.path('cell1'))
        with open(self.path('cell1'), 'w'):
            pass
        found = self.make(1)
        self.assertEqual(found['cell0'], found['cell1'])
