"""A pool of connections to SQLite that closes those that have rested for long."""

import contextlib
import sqlite3

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite.dialects import sqlite_pool
from tests.fixtures import clock


class PoolTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        path = self.useFixture(fixtures.TempDir()).join('database')
        self.engine = sa.create_engine(
            f'sqlite:///{path}', pool_use_lifo=True, pool_size=4, max_overflow=1
        )
        sqlite_pool.close_rested(self.engine.pool)
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

    def test_the_one_that_rested_least_is_used(self):
        self.use(4)
        [first] = self.use(1)
        [second] = self.use(1)
        self.assertIs(first, second)

    def test_those_that_rested_for_long_are_closed(self):
        connections = self.use(4)
        self.assertTrue(all(map(self.is_open, connections)))
        self.clock.advance(sqlite_pool.REST_S + 1)
        [used] = self.use(1)
        self.assertEqual([used], list(filter(self.is_open, connections)))

    def test_the_last_one_stays_open(self):
        [only] = self.use(1)
        self.clock.advance(sqlite_pool.REST_S + 1)
        self.assertEqual([only], self.use(1))

    def test_one_that_is_taken_while_it_is_closed_is_replaced(self):
        connections = self.use(2)
        self.clock.advance(sqlite_pool.REST_S + 1)
        closed = []

        def close(_connection, entry, _proxy):
            if not closed:
                closed.append(entry)
                entry.close()

        sa.event.listen(self.engine.pool, 'checkout', close, insert=True)
        [used] = self.use(1)
        self.assertTrue(self.is_open(used))
        self.assertNotIn(used, connections)
        self.assertEqual(1, len(closed))

    def test_closed_ones_make_room(self):
        """As many as before may be used at the same time."""
        self.use(5)
        self.clock.advance(sqlite_pool.REST_S + 1)
        self.use(1)
        self.assertEqual(5, len(set(self.use(5))))
