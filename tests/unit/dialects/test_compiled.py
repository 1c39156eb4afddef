"""Statements that are compiled once for all databases of a process."""

import fixtures
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
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
        key = (None, self.id(), (), False, False)
        for kind in (sqlite, mysql):
            self.assertIsNone(compiled.Shared(kind.dialect()).get(key))
        compiled.Shared(sqlite.dialect())[key] = 'for SQLite'
        self.assertEqual('for SQLite', compiled.Shared(sqlite.dialect()).get(key))
        self.assertIsNone(compiled.Shared(mysql.dialect()).get(key))
        told = mysql.dialect()
        told.server_version_info = (8, 4)
        compiled.Shared(told)[key] = 'for MySQL 8.4'
        self.assertIsNone(compiled.Shared(mysql.dialect()).get(key))

    def test_plans_are_few(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.dialects.compiled.MOST_PLANS', 3))
        shared = compiled.Shared(sqlite.dialect())
        for length in range(10):
            shared.add_plan((THING, ('ids',), (length,)), 'a plan')
            self.assertEqual('a plan', shared.plan((THING, ('ids',), (length,))))
        self.assertIsNone(shared.plan((THING, ('ids',), (0,))))
        self.assertLessEqual(len(shared._plans), 3)
