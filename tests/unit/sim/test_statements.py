"""Statements that are executed by plans give what SQLAlchemy gives, and raise what it raises."""

import datetime
import itertools

import fixtures
from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite.db import transactions
from nova_lite.dialects import execute
from tests.sim.world import statements

TIMES = itertools.count(1)


def _next_time():
    return datetime.datetime.fromisoformat('2026-01-01') + datetime.timedelta(seconds=next(TIMES))


TABLE = sa.Table(
    'things',
    sa.MetaData(),
    sa.Column('id', sa.Integer, primary_key=True),
    sa.Column('name', sa.String(30), unique=True),
    sa.Column('data', sa.JSON),
    sa.Column('number', sa.Integer, default=7),
    sa.Column('at', sa.DateTime, default=_next_time, onupdate=_next_time),
)
NAMES = sa.select(TABLE).where(TABLE.c.name.in_(sa.bindparam('names', expanding=True)))
CONSTANT = sa.select(TABLE.c.name).where(
    TABLE.c.name.in_(['a', 'b']), TABLE.c.number > sa.bindparam('more')
)
INSERT = TABLE.insert()
RENAME = TABLE.update().where(TABLE.c.name == sa.bindparam('old')).values(name=sa.bindparam('new'))
DELETE = TABLE.delete().where(TABLE.c.name == sa.bindparam('old'))
STATEMENTS = NAMES, CONSTANT, INSERT, RENAME, DELETE


class PlansTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).path
        self.database = transactions.Database(f'sqlite:///{path}/things.sqlite', threads=1)
        self.addCleanup(self.database.dispose)
        TABLE.metadata.create_all(self.database.engine)
        self.plans = []
        for statement in STATEMENTS:
            vars(statement).pop(statements._KNOWN, None)
        self.useFixture(fixtures.MonkeyPatch('tests.sim.world.statements._SHARED', {}))
        executed = statements._executed

        def noted(connection, plan, constants, given):
            self.plans.append(plan)
            return executed(connection, plan, constants, given)

        self.useFixture(fixtures.MonkeyPatch('tests.sim.world.statements._executed', noted))
        original = sa.Connection._execute_clauseelement
        self.useFixture(
            fixtures.MonkeyPatch(
                'sqlalchemy.Connection._execute_clauseelement', statements.planned(original)
            )
        )

    def write(self, function, *args):
        return self.database.write(lambda connection: function(connection, *args))

    def fill(self, *names):
        """Insert rows; the keys that they got."""
        return [
            self.write(
                lambda connection, name: connection.execute(
                    INSERT, {'name': name, 'data': [name]}
                ).inserted_primary_key[0],
                name,
            )
            for name in names
        ]

    def test_inserts_have_keys_and_defaults(self):
        self.assertEqual([1, 2, 3], self.fill('a', 'b', 'c'))
        self.assertEqual(2, len(self.plans))
        rows = self.write(execute.every, sa.select(TABLE).order_by(TABLE.c.id))
        self.assertEqual([['a'], ['b'], ['c']], [row.data for row in rows])
        self.assertEqual({7}, {row.number for row in rows})
        self.assertEqual(sorted({row.at for row in rows}), [row.at for row in rows])

    def test_lists_of_each_length(self):
        self.fill('a', 'b', 'c')
        self.plans.clear()
        for names in (['a'], ['a', 'b'], [], ['c', 'b', 'a', 'x'], ['x']):
            rows = self.write(execute.every, NAMES, {'names': names})
            self.assertEqual(sorted({*names} - {'x'}), sorted(row.name for row in rows))
            self.assertEqual([[row.name] for row in rows], [row._mapping['data'] for row in rows])
        self.assertEqual(3, len(self.plans))

    def test_a_list_that_is_a_constant(self):
        self.fill('a', 'b', 'c')
        self.plans.clear()
        for more, names in ((6, ['a', 'b']), (7, []), (0, ['a', 'b'])):
            self.assertEqual(names, sorted(self.write(execute.values, CONSTANT, {'more': more})))
        self.assertEqual(2, len(self.plans))

    def test_statements_that_differ_in_constants_alone(self):
        self.fill('a', 'b', 'c')
        self.plans.clear()

        def named(names, above, order):
            query = sa.select(TABLE.c.name).where(TABLE.c.name.in_(names), TABLE.c.id > above)
            return self.write(execute.values, query.order_by(order).limit(2))

        for names, above, found in (
            (['a', 'b', 'c'], 0, ['a', 'b']),
            (['a', 'b', 'c'], 1, ['b', 'c']),
            (['c'], 0, ['c']),
            (['c'], 3, []),
            ([], 0, []),
        ):
            self.assertEqual(found, named(names, above, TABLE.c.id))
        self.assertEqual(3, len(self.plans))
        self.assertEqual(['c', 'b'], named(['a', 'b', 'c'], 0, TABLE.c.id.desc()))
        self.assertEqual(3, len(self.plans))
        self.assertEqual(1, len({*self.plans}))

    def test_ways_to_read_a_result(self):
        self.fill('a', 'b')
        query = sa.select(TABLE.c.name, TABLE.c.id).order_by(TABLE.c.id)

        def read(connection):
            return (
                connection.execute(query).first().id,
                connection.execute(query).scalars().all(),
                [dict(row) for row in connection.execute(query).mappings()],
                [row[TABLE.c.id] for row in connection.execute(query).mappings().all()],
                [tuple(row) for row in connection.execute(query)],
                connection.execute(query.limit(1)).scalar_one(),
            )

        first = self.database.read(read)
        self.plans.clear()
        self.assertEqual(first, self.database.read(read))
        self.assertEqual(6, len(self.plans))

    def test_changes_are_counted(self):
        self.fill('a', 'b')
        self.plans.clear()
        for old, new, number in (('a', 'c', 1), ('a', 'd', 0), ('c', 'a', 1)):
            given = {'old': old, 'new': new}
            self.assertEqual(number, self.write(execute.change, RENAME, given))
        for number in (1, 0):
            self.assertEqual(number, self.write(execute.change, DELETE, {'old': 'a'}))
        self.assertEqual(3, len(self.plans))

    def test_errors(self):
        self.fill('a', 'b')
        error = self.assertRaises(db_exception.DBDuplicateEntry, self.fill, 'a')
        self.assertEqual(['name'], error.columns)
        self.write(execute.change, DELETE, {'old': 'x'})
        self.plans.clear()
        self.assertRaises(
            db_exception.DBError, self.database.read, execute.change, DELETE, {'old': 'a'}
        )
        self.assertEqual(1, len(self.plans))
        self.assertEqual(['a'], self.write(execute.values, CONSTANT, {'more': 0})[:1])
