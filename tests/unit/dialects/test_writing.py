"""Transactions that only read, which may neither change nor lock rows."""

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.dialects import execute
from nova_lite.dialects import writing

TABLE = sa.Table(
    'numbers',
    sa.MetaData(),
    sa.Column('id', sa.Integer, primary_key=True),
    sa.Column('number', sa.Integer),
)
LOCK = writing.locking(sa.select(TABLE.c.number))
ROW = {'id': 2, 'number': 2}
STATEMENTS = {
    'insert': lambda c: rows.insert(c, TABLE, ROW),
    'insert many': lambda c: rows.insert(c, TABLE, [ROW, {'id': 3, 'number': 3}]),
    'insert new': lambda c: rows.insert_new(c, TABLE, ROW, ValueError()),
    'insert for an id': lambda c: rows.insert_returning_id(c, TABLE, ROW),
    'change': lambda c: rows.change(c, TABLE, {'number': 5}, id=1),
    'swap': lambda c: rows.swap(
        c, TABLE, {'id': 1}, {'number': 1}, expected={'number': (1, 5)}, what='Row'
    ),
    'delete': lambda c: rows.delete(c, TABLE, id=2),
    'lock': lambda c: rows.lock(c, TABLE, id=1),
    'lock by hand': lambda c: c.execute(LOCK),
    'lock for the first row': lambda c: execute.first(c, LOCK),
    'change by hand': lambda c: c.execute(TABLE.update().values(number=7)),
    'change many': lambda c: c.execute(
        TABLE.update().where(TABLE.c.id == sa.bindparam('key')), [{'key': 1, 'number': 8}] * 2
    ),
}


class ReadingTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).join('database')
        self.database = transactions.Database(f'sqlite:///{path}', threads=1)
        self.addCleanup(self.database.dispose)
        self.database.write(TABLE.metadata.create_all)
        self.database.write(rows.insert, TABLE, {'id': 1, 'number': 1})

    def assert_refused(self):
        """Assert that nothing changes or locks rows in a transaction that reads."""
        for name, statement in STATEMENTS.items():
            error = self.assertRaises(writing.Refused, self.database.read, statement)
            self.assertIn('only reads', str(error), name)
        found = self.database.read(rows.every, TABLE)
        self.assertEqual([(1, 1)], [tuple(row) for row in found])

    def test_statements_that_change_or_lock(self):
        self.assert_refused()

    def test_statements_that_are_known(self):
        def undone(connection):
            for statement in STATEMENTS.values():
                with connection.begin_nested() as savepoint:
                    statement(connection)
                    savepoint.rollback()

        self.database.write(undone)
        self.assert_refused()

    def test_the_next_transaction_may_write(self):
        self.assertRaises(writing.Refused, self.database.read, STATEMENTS['change'])
        self.database.write(STATEMENTS['change'])
        self.assertEqual(5, self.database.read(rows.one, TABLE, id=1).number)
