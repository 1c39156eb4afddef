"""The pool of histories uses and closes connections to SQLite as that of production does."""

import contextlib
import sqlite3

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite.dialects import sqlite_pool
from tests.fixtures import clock
from tests.sim.world import pools


class PoolTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        path = self.useFixture(fixtures.TempDir()).join('database')
        self.engine = sa.create_engine(
            f'sqlite:///{path}', poolclass=pools.Pool, pool_use_lifo=True, pool_size=1
        )
        self.addCleanup(self.engine.dispose)

    def use(self, count):
        """Use connections at the same time. Return those of the driver."""
        with contextlib.ExitStack() as stack:
            made = [stack.enter_context(self.engine.connect()) for _number in range(count)]
            return [each.connection.driver_connection for each in made]

    def is_open(self, connection):
        try:
            connection.execute('SELECT 1')
        except sqlite3.ProgrammingError:
            return False
        return True

    def test_the_one_that_idled_least_is_used(self):
        self.use(4)
        [first] = self.use(1)
        self.assertEqual([first], self.use(1))

    def test_those_that_idled_for_long_are_closed(self):
        connections = self.use(20)
        self.assertTrue(all(map(self.is_open, connections)))
        self.clock.advance(sqlite_pool.REST_S + 1)
        [used] = self.use(1)
        self.assertEqual([used], list(filter(self.is_open, connections)))
        after = self.use(5)
        self.assertTrue(all(map(self.is_open, after)))
        self.assertEqual({used}, {*connections} & {*after})

    def test_a_broken_connection_is_replaced(self):
        with self.engine.connect() as connection:
            broken = connection.connection.driver_connection
            connection.invalidate()
        [used] = self.use(1)
        self.assertIsNot(broken, used)
        self.assertTrue(self.is_open(used))

    def test_dispose_closes_idle_connections(self):
        connections = self.use(3)
        self.engine.dispose()
        self.assertEqual([], list(filter(self.is_open, connections)))
        [used] = self.use(1)
        self.assertTrue(self.is_open(used))
