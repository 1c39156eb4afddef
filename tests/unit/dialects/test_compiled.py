"""Statements that are compiled once for all databases of a process."""

import fixtures
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import default
import testtools

from nova_lite.db import transactions
from nova_lite.dialects import compiled

THING = sa.Table('thing', sa.MetaData(), sa.Column('id', sa.Integer), sa.Column('name', sa.String))


class SharedTest(testtools.TestCase):
    def database(self, name):
        """A database of two things, the second one of which is called as the database."""
        directory = self.useFixture(fixtures.TempDir()).path
        made = transactions.Database(f'sqlite:///{directory}/{name}.sqlite')
        self.addCleanup(made.dispose)

        def fill(connection):
            THING.create(connection)
            rows = [{'id': 1, 'name': 'first'}, {'id': 2, 'name': name}]
            connection.execute(THING.insert(), rows)

        made.write(fill)
        return made

    def hits(self, database):
        """The outcomes of looking for statements of an engine, from now on."""
        found = []

        def note(*args):
            context = args[4]
            if context.compiled is not None:
                found.append(context.cache_hit)

        sa.event.listen(database.engine, 'before_cursor_execute', note)
        return found

    def test_the_second_database_compiles_nothing(self):
        def named(connection, ids):
            found = connection.execute(sa.select(THING.c.name).where(THING.c.id.in_(ids)))
            return sorted(found.scalars())

        first, second = self.database('a'), self.database('b')
        self.assertEqual(['a', 'first'], first.read(named, [1, 2]))
        hits = self.hits(second)
        self.assertEqual(['b'], second.read(named, [2]))
        self.assertEqual([default.DefaultDialect.CACHE_HIT], hits)

    def test_another_dialect_has_its_own(self):
        first, second, told = (sqlite.dialect() for _each in range(3))
        told.server_version_info = (3, 99)
        compiled.Shared(first)[first, self.id()] = 'for SQLite'
        self.assertEqual('for SQLite', compiled.Shared(second).get((second, self.id())))
        self.assertIsNone(compiled.Shared(told).get((told, self.id())))

    def test_a_key_of_another_form(self):
        """Engines do not share it."""
        shared = compiled.Shared(sqlite.dialect())
        shared[self.id(), 'of one engine'] = 'kept'
        self.assertEqual('kept', shared.get((self.id(), 'of one engine')))

    def test_servers_have_their_own(self):
        engine = sa.create_engine('postgresql+psycopg://localhost/x')
        compiled.share(engine)
        self.assertNotIn('compiled_cache', engine.get_execution_options())

    def test_statements_are_few(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.dialects.compiled._statements', {}))
        self.useFixture(fixtures.MonkeyPatch('nova_lite.dialects.compiled.MOST', 3))
        dialect = sqlite.dialect()
        shared = compiled.Shared(dialect)
        for number in range(5):
            shared[dialect, number] = number
        self.assertEqual([None, None, 2, 3, 4], [shared.get((dialect, n)) for n in range(5)])
