"""Statements that are executed, and what is returned of their results.

tests/functional_rabbit/test_api_databases.py runs these cases over database servers.
"""

import datetime

from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite.db.api import models
from nova_lite.dialects import execute
from tests.fixtures import database

FLAVORS = models.Flavor.__table__
SIZES = {'vcpus': 1, 'memory_mb': 512, 'root_gb': 10}
ADD = FLAVORS.insert()
ALL = sa.select(FLAVORS).order_by(FLAVORS.c.id)
BY_NAME = ALL.where(FLAVORS.c.name == sa.bindparam('name'))
# With a value of its own, a list and a limit.
SMALL = (
    sa.select(FLAVORS.c.name, (FLAVORS.c.vcpus + 1).label('more'))
    .where(FLAVORS.c.name.in_(sa.bindparam('names', expanding=True)), FLAVORS.c.memory_mb < 2000)
    .order_by(FLAVORS.c.name)
    .limit(sa.bindparam('most'))
)
AMONG = sa.select(FLAVORS.c.name).where(FLAVORS.c.name.in_(sa.bindparam('names', expanding=True)))
KINDS = sa.select(FLAVORS.c.name).where(FLAVORS.c.vcpus.in_([1, 3])).order_by(FLAVORS.c.name)
RESIZE = (
    FLAVORS.update()
    .where(FLAVORS.c.name == sa.bindparam('of'))
    .values(vcpus=sa.bindparam('new', type_=sa.Integer))
)
REMOVE = FLAVORS.delete().where(FLAVORS.c.name.in_(sa.bindparam('names', expanding=True)))


def flavor(name, **values):
    return {'flavorid': name, 'name': name, **SIZES, **values}


class TestExecute(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.database = self.useFixture(database.ApiDatabase())
        self.read, self.write = self.database.read, self.database.write
        for name in 'ab':
            self.write(execute.insert, ADD, flavor(name))

    def test_rows_are_those_of_sqlalchemy(self):
        self.write(execute.insert, ADD, flavor('c', extra_specs={'x': ['y']}, description='é'))

        def both(connection):
            mine = [execute.every(connection, ALL) for _each in range(2)]
            return [connection.execute(ALL).all(), *mine]

        expected, first, second = self.read(both)
        self.assertEqual(expected, first)
        self.assertEqual(expected, second)
        self.assertEqual(expected[2]._mapping, second[2]._mapping)
        row = second[2]
        self.assertEqual(({'x': ['y']}, 'é', True), (row.extra_specs, row.description, row[10]))
        self.assertEqual('c', row._mapping[FLAVORS.c.name])
        self.assertIsInstance(row.created_at, datetime.datetime)

    def test_lists_of_several_lengths(self):
        for names, most, found in (
            (['a', 'b'], 5, ['a', 'b']),
            (['b', 'x'], 5, ['b']),
            (['b', 'a'], 1, ['a']),
            ([], 5, []),
            ([], 5, []),
            (['x', 'b', 'a'], 5, ['a', 'b']),
            (['a', 'x', 'y'], 5, ['a']),
        ):
            rows = self.read(execute.every, SMALL, {'names': names, 'most': most})
            self.assertEqual([(name, 2) for name in found], rows)
        for _each in range(2):
            self.assertEqual([('a',), ('b',)], self.read(execute.every, KINDS))

    def test_lists_of_many_lengths(self):
        """Databases keep few statements for them."""
        lengths = [*range(67), 1000, 1024, 1025]
        some = [['a', *map(str, range(length))][:length] for length in lengths]
        filled = [execute.filled(each) for each in some]
        pairs = zip(filled, lengths, strict=True)
        self.assertEqual(some, [each[:length] for each, length in pairs])
        self.assertEqual([set(each) for each in some], [set(each) for each in filled])
        self.assertEqual(
            [0, 1, 2, 4, 8, 16, 32, 64, 128, 1024, 1025], sorted({len(each) for each in filled})
        )
        for names in (*some, *filled):
            rows = self.read(execute.values, AMONG, {'names': names})
            self.assertEqual(names[:1], rows)

    def test_single_values(self):
        for _each in range(2):
            self.assertEqual(['a', 'b'], self.read(execute.values, KINDS))
            self.assertEqual('a', self.read(execute.value, KINDS))
            self.assertEqual(('a',), self.read(execute.one, KINDS))
            self.assertIsNone(self.read(execute.value, BY_NAME, {'name': 'x'}))
            self.assertRaises(sa.exc.NoResultFound, self.read, execute.one, BY_NAME, {'name': 'x'})

    def test_changes(self):
        resized = [
            self.write(execute.change, RESIZE, {'of': name, 'new': new})
            for name, new in (('a', 2), ('b', 3), ('x', 4))
        ]
        self.assertEqual([1, 1, 0], resized)
        found = self.read(execute.every, ALL)
        self.assertEqual([2, 3], [row.vcpus for row in found])
        self.assertNotIn(None, [row.updated_at for row in found])
        removed = [
            self.write(execute.change, REMOVE, {'names': names})
            for names in (['x', 'a'], ['b', 'a'], ['b', 'a'])
        ]
        self.assertEqual([1, 1, 0], removed)

    def test_defaults_are_computed_each_time(self):
        found = self.read(execute.every, ALL)
        self.assertEqual([{}, {}], [row.extra_specs for row in found])
        self.assertEqual([1.0, 1.0], [row.rxtx_factor for row in found])
        self.assertLess(found[0].created_at, found[1].created_at)

    def test_errors_are_those_of_the_engine(self):
        for _each in range(2):
            self.assertRaises(
                db_exception.DBDuplicateEntry, self.write, execute.insert, ADD, flavor('b')
            )
        self.assertEqual(2, len(self.read(execute.every, ALL)))

    def test_a_savepoint_outlives_an_error(self):
        def attempt(connection):
            try:
                with connection.begin_nested():
                    execute.insert(connection, ADD, flavor('b'))
            except db_exception.DBDuplicateEntry:
                execute.insert(connection, ADD, flavor('c'))

        self.write(attempt)
        self.assertEqual(3, len(self.read(execute.every, ALL)))

    def test_a_value_that_is_missing_or_wrong(self):
        self.read(execute.first, BY_NAME, {'name': 'a'})
        self.assertRaises(db_exception.DBError, self.read, execute.first, BY_NAME)
        wrong = flavor('d', extra_specs={1})
        self.assertRaises(db_exception.DBError, self.write, execute.insert, ADD, wrong)
        self.write(execute.insert, ADD, flavor('d', extra_specs={}))
        self.assertRaises(db_exception.DBError, self.write, execute.insert, ADD, wrong)

    def test_a_transaction_begins_with_its_first_statement(self):
        engine = self.database.database.engine
        with engine.connect() as connection:
            self.assertEqual(2, len(execute.every(connection, ALL)))
            self.assertTrue(connection.in_transaction())
            self.assertEqual(1, execute.change(connection, REMOVE, {'names': ['a', 'x']}))
            connection.rollback()
            self.assertEqual(2, len(execute.every(connection, ALL)))
