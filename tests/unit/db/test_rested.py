"""Connections of a pool that died while they rested, or that are a parent's."""

import os
import sqlite3

import fixtures
import sqlalchemy as sa
import testtools

from nova_lite.db import rested
from tests.fixtures import clock

NUMBERS = sa.Table('numbers', sa.MetaData(), sa.Column('number', sa.Integer))
LONG_S = 2 * rested.RESTED_S


class RestedTest(testtools.TestCase):
    """The pool tries no connection by itself, as those to a server."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        path = self.useFixture(fixtures.TempDir()).join('database')
        self.engine = sa.create_engine(
            f'sqlite:///{path}', poolclass=sa.pool.QueuePool, pool_reset_on_return=None
        )
        self.addCleanup(self.engine.dispose)
        rested.try_first(self.engine)
        with self.engine.begin() as connection:
            NUMBERS.create(connection)

    def write(self, number):
        """Write a number in a transaction. Return the driver's connection."""
        with self.engine.begin() as connection:
            connection.execute(NUMBERS.insert().values(number=number))
            return connection.connection.driver_connection

    def written(self):
        with self.engine.begin() as connection:
            return connection.scalars(sa.select(NUMBERS.c.number)).all()

    def test_one_that_lives_is_used_again(self):
        first = self.write(1)
        self.clock.advance(LONG_S)
        self.assertIs(first, self.write(2))
        self.assertEqual([1, 2], self.written())

    def test_one_that_died_while_it_rested_is_replaced(self):
        first = self.write(1)
        first.close()
        self.clock.advance(LONG_S)
        self.assertIsNot(first, self.write(2))
        self.assertEqual([1, 2], self.written())

    def two(self):
        """Return two of the driver's connections, which rest."""
        with self.engine.connect() as one, self.engine.connect() as other:
            return [each.connection.driver_connection for each in (one, other)]

    def test_others_that_live_are_kept(self):
        """A proxy closes those that have rested for long."""
        before = self.two()
        before[0].close()
        self.clock.advance(LONG_S)
        self.assertEqual(1, len({*before} & {*self.two()}))

    def test_all_are_replaced_after_a_restart_of_the_server(self):
        """Each is tried once."""
        before = self.two()
        for each in before:
            each.close()
        self.clock.advance(LONG_S)
        tried = self.count_tries()
        with self.engine.connect() as one, self.engine.connect() as other:
            after = [each.connection.driver_connection for each in (one, other)]
            self.assertEqual([1, 1], [each.scalar(sa.select(1)) for each in (one, other)])
        self.assertEqual(set(), {*before} & {*after})
        self.assertEqual(2, len(tried))
        self.clock.advance(LONG_S)
        self.assertEqual({*after}, {*self.two()})

    def count_tries(self):
        """Return a list of the driver's connections that are tried, to come."""
        tried, ping = [], self.engine.dialect.do_ping

        def watched(connection):
            tried.append(connection)
            return ping(connection)

        self.patch(self.engine.dialect, 'do_ping', watched)
        return tried

    def test_one_that_was_used_a_moment_ago_is_not_tried(self):
        self.write(1)
        tried = self.count_tries()
        self.clock.advance(rested.RESTED_S / 2)
        self.write(2)
        self.assertEqual([], tried)
        self.clock.advance(rested.RESTED_S)
        connection = self.write(3)
        self.assertEqual([connection], tried)

    def test_what_was_sent_to_one_that_died_is_known_to_be_lost(self):
        """It is not tried so soon. Its transaction fails, and none is reported as done."""
        self.write(1).close()
        self.assertRaises(sa.exc.ProgrammingError, self.write, 2)
        self.write(3)
        self.assertEqual([1, 3], self.written())

    def test_one_of_a_parent_is_left_to_it(self):
        parents = self.write(1)
        with self.engine.connect() as connection:
            connection.info['process'] = os.getppid()
        self.assertIsNot(parents, self.write(2))
        self.assertEqual([1, 2], self.written())
        self.assertEqual([(1,), (2,)], parents.execute('SELECT number FROM numbers').fetchall())
        parents.close()
        self.assertRaises(sqlite3.ProgrammingError, parents.execute, 'SELECT 1')
