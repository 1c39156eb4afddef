"""Statements that are built once for each shape, and mean the same for all values."""

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db import transactions

TABLE = sa.Table(
    'things',
    sa.MetaData(),
    sa.Column('id', sa.Integer, primary_key=True),
    sa.Column('name', sa.String(20), unique=True),
    sa.Column('state', sa.String(20)),
    sa.Column('size', sa.Integer),
)
# Constants, as every part of a shape.
LARGE = TABLE.c.size > sa.bindparam('least')
BACKWARDS = TABLE.c.name.desc()
GROWN = {'size': TABLE.c.size + sa.bindparam('by')}
SIZED = {'size': sa.func.abs(sa.bindparam('by', type_=sa.Integer))}


class RowsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)
        TABLE.metadata.create_all(database.engine)
        self.read, self.write = database.read, database.write
        self.write(
            rows.insert,
            TABLE,
            [
                {'name': 'a', 'state': 'on', 'size': 1},
                {'name': 'b', 'state': None, 'size': 2},
                {'name': 'c', 'state': 'off', 'size': None},
            ],
        )

    def names(self, *conditions, **where):
        return [row.name for row in self.read(rows.every, TABLE, *conditions, **where)]

    def swap(self, key, **allowed):
        self.write(rows.swap, TABLE, {'name': key}, {'size': 9}, expected=allowed, what='Thing')
        return self.read(rows.find, TABLE, name=key).size

    def test_where(self):
        for value, found in (('on', ['a']), ('off', ['c']), ('none', []), (None, ['b'])):
            self.assertEqual(found, self.names(state=value))
        for values, found in ((['on', 'off'], ['a', 'c']), (('on',), ['a']), ([], [])):
            self.assertEqual(found, self.names(state=values))
        self.assertEqual(['a'], self.names(state='on', size=1))
        self.assertEqual([], self.names(state=[None]), 'NULL is not among values')
        self.assertEqual(['c', 'a'], self.names(state={'on', 'off'}, order_by=BACKWARDS))
        self.assertEqual(['b'], self.names(LARGE, given={'least': 1}))
        self.assertEqual([], self.names(LARGE, given={'least': 2}))
        self.assertEqual(['b'], self.names(LARGE, given={'least': 1}, state=None))
        self.assertIsNone(self.read(rows.find, TABLE, name='d'))

    def test_swap(self):
        self.assertEqual(9, self.swap('a', state=('on', 'off')))
        self.assertEqual(9, self.swap('b', state=(None,)))
        self.assertEqual(9, self.swap('c', state=(None, 'off'), name=('c',)))
        self.assertEqual(9, self.swap('b', state=(None, 'off')))

    def test_swap_of_what_is_otherwise(self):
        for allowed in (('off',), (None,), (None, 'off'), ()):
            error = self.assertRaises(exception.StateChanged, self.swap, 'a', state=allowed)
            self.assertIn('state is on', error.message)
        error = self.assertRaises(exception.StateChanged, self.swap, 'd', state=('on',))
        self.assertIn('it does not exist', error.message)
        self.assertEqual(1, self.read(rows.find, TABLE, name='a').size)

    def test_change_and_delete(self):
        self.assertEqual(2, self.write(rows.change, TABLE, {'size': 5}, name=['a', 'b']))
        self.assertEqual(0, self.write(rows.change, TABLE, {'size': 6}, name='a', state=None))
        self.assertEqual(1, self.write(rows.change, TABLE, {'state': None}, name='a'))
        self.assertEqual(['a', 'b'], self.names(size=5, state=None))
        self.assertEqual(2, self.write(rows.delete, TABLE, size=5))
        self.assertEqual(['c'], self.names())

    def test_computed_columns_and_conditions(self):
        grown = self.write(
            rows.change, TABLE, {'state': 'x'}, LARGE, computed=GROWN, given={'by': 7, 'least': 1}
        )
        self.assertEqual(1, grown)
        self.assertEqual(['b'], self.names(state='x', size=9))
        self.assertEqual(1, self.write(rows.delete, TABLE, LARGE, given={'least': 8}, state='x'))
        self.assertEqual(['a', 'c'], self.names())
        self.write(rows.insert, TABLE, {'name': 'd'}, given={'by': -3}, **SIZED)
        more = [{'name': 'e'}, {'name': 'f'}]
        self.write(rows.insert, TABLE, more, given={'by': -4}, **SIZED)
        taken = exception.Conflict(reason='taken')
        self.write(rows.insert_new, TABLE, {'name': 'g'}, taken, given={'by': -5}, **SIZED)
        sizes = {
            row.name: row.size for row in self.read(rows.every, TABLE, LARGE, given={'least': 2})
        }
        self.assertEqual({'d': 3, 'e': 4, 'f': 4, 'g': 5}, sizes)

    def test_lock(self):
        self.assertEqual('on', self.write(rows.lock, TABLE, name='a').state)
        self.assertIsNone(self.write(rows.lock, TABLE, name='a', state=None))
        self.assertIn('FOR UPDATE', str(rows._locking(TABLE, ())))

    def test_insert(self):
        made = self.write(rows.insert_returning_id, TABLE, {'name': 'd'})
        self.assertEqual('d', self.read(rows.find, TABLE, id=made).name)
        taken = exception.Conflict(reason='taken')
        error = self.assertRaises(
            exception.Conflict, self.write, rows.insert_new, TABLE, {'name': 'd'}, taken
        )
        self.assertIs(taken, error)

    def test_each_statement_is_built_once(self):
        built = (rows._selecting, rows._updating, rows._deleting, rows._inserting)
        for each in built:
            each.cache_clear()
        for name in ('x', 'y', 'z'):
            self.write(rows.change, TABLE, {'size': 5}, name=name, state=None)
            self.read(rows.find, TABLE, name=name)
            self.write(rows.delete, TABLE, size=len(name))
            self.names(LARGE, order_by=BACKWARDS, given={'least': len(name)})
            grown = {'computed': GROWN, 'given': {'by': len(name)}}
            self.write(rows.change, TABLE, {}, **grown, name=name)
            self.write(rows.insert, TABLE, {'name': name}, given={'by': 1}, **SIZED)
        self.read(rows.find, TABLE, name='w')
        self.assertEqual([2, 2, 1, 1], [each.cache_info().misses for each in built])
