"""Rows: what the functions of simcloud's database do beyond plain SQL."""

import fixtures
import testtools

from nova_lite.simcloud import database
from nova_lite.simcloud.network import tables
from tests.fixtures import clock


class RowTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).join('rows.sqlite')
        self.runtime = self.useFixture(clock.ManualClock()).runtime
        self.db = database.Database(path)
        self.addCleanup(self.db.close)
        self.db.create_tables()
        self.row = self.insert(name='first')

    def insert(self, **values):
        return self.db.change(database.insert, tables.routers, project_id='p', **values)

    def found(self, **values):
        with self.db.read() as conn:
            return database.find(conn, tables.routers, **values)

    def test_a_table_says_what_is_not_given(self):
        self.assertEqual(self.row, self.found(name='first'))
        self.assertEqual(([], True, None), tuple(map(self.row.get, ('tags', 'enable_snat', 'x'))))
        self.assertEqual(self.row['created_at'], self.row['updated_at'])
        self.assertIsNot(self.row['tags'], self.insert()['tags'])

    def test_none_is_found_as_null(self):
        self.assertEqual(self.row, self.found(gateway_port_id=None))
        self.assertIsNone(self.found(gateway_port_id='port'))

    def test_saving_keeps_the_time(self):
        self.runtime.advance(5)
        saved = self.db.change(database.save, tables.routers, self.row, name='second')
        self.assertEqual(saved, self.found(id=self.row['id']))
        self.assertEqual(5, (saved['updated_at'] - self.row['updated_at']).total_seconds())

    def test_null_means_the_default_where_it_is_no_value(self):
        wanted = {'routes': None, 'gateway_port_id': None, 'name': 'r', 'no_column': 1}
        self.assertEqual(
            {'routes': [], 'gateway_port_id': None, 'name': 'r'},
            database.columns(tables.routers, wanted),
        )

    def test_deleting_counts(self):
        self.insert()
        self.assertEqual(2, self.db.change(database.delete, tables.routers, project_id='p'))
        self.assertIsNone(self.found(project_id='p'))

    def test_an_order_of_columns_makes_no_statement_of_its_own(self):
        database._updating.cache_clear()
        for values in ({'name': 'x', 'description': 'y'}, {'description': 'x', 'name': 'y'}):
            self.db.change(database.save, tables.routers, self.row, **values)
            self.assertEqual(list(self.row), list(self.insert(**values)))
        known = database._updating.cache_info()
        self.assertEqual(1, known.currsize)
        self.assertIsNotNone(known.maxsize)
