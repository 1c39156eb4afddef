"""Transactions that wait at the same time are made as one."""

import types

import fixtures
from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite.db import joined
from nova_lite.db import rows
from nova_lite.db import transactions
from tests.fixtures import combining

TABLE = sa.Table('t', sa.MetaData(), sa.Column('name', sa.String, primary_key=True))


class JoinedTransactionsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.db = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(self.db.dispose)
        self.db.write(TABLE.metadata.create_all)
        self.joined = joined.JoinedTransactions(self.db)
        self.commits = 0
        sa.event.listen(self.db.engine, 'commit', self._count)

    def _count(self, _connection):
        self.commits += 1

    def adding(self, name, transactions_=None):
        """Return a call that adds a row and returns the number of rows."""

        def add(connection):
            rows.insert(connection, TABLE, {'name': name})
            return len(rows.every(connection, TABLE))

        return lambda: (transactions_ or self.joined).write(add)

    def together(self, *names):
        return combining.together(self.joined._combiner, [self.adding(name) for name in names])

    def names(self):
        return {row.name for row in self.db.read(rows.every, TABLE)}

    def test_alone(self):
        self.assertEqual(1, self.adding('a')())
        self.assertEqual({'a'}, self.names())

    def test_each_gets_its_own_result(self):
        self.assertEqual([1, 2, 3], self.together('a', 'b', 'c'))
        self.assertEqual(1, self.commits)
        self.assertEqual({'a', 'b', 'c'}, self.names())

    def test_one_that_fails_fails_alone(self):
        self.adding('b')()
        first, second, third = self.together('a', 'b', 'c')
        self.assertIsInstance(second, db_exception.DBDuplicateEntry)
        self.assertEqual({2, 3}, {first, third})
        self.assertEqual({'a', 'b', 'c'}, self.names())

    def test_only_those_of_the_same_key_are_joined(self):
        """Both locks of a joint transaction of two projects might be held by others."""
        calls = [self.adding(name, self.joined.of('mine')) for name in 'ab']
        self.assertEqual([1, 2], combining.together(self.joined._combiner, calls, key='mine'))
        self.assertEqual(1, self.commits)

    def test_a_lock_of_others_is_waited_for_alone(self):
        """After the wait the transaction is rolled back, so the other members may go on."""
        calls = [self.adding('a'), self.adding('b')]
        write = self.db.write

        def busy(function, *args):
            if function is joined._each:
                cause = db_exception.DBDeadlock()
                raise exception.Unavailable(service='The database', reason='busy') from cause
            return write(function, *args)

        self.joined._database = types.SimpleNamespace(write=busy)
        self.assertEqual([1, 2], sorted(combining.together(self.joined._combiner, calls)))

    def test_an_unknown_end_is_that_of_each(self):
        """Each caller then does what it does after its own transaction."""
        lost = exception.Unavailable(service='The database', reason='lost', may_have_committed=True)

        def lose(*_args):
            raise lost

        self.joined._database = types.SimpleNamespace(write=lose)
        self.assertEqual([lost, lost], self.together('a', 'b'))
