"""Epochs of sagas that several processes see first at the same time.

SQLite has one transaction that writes at a time, so only a server shows what these tests are for.
"""

import contextlib

from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import epochs
from tests.fixtures import database
from tests.fixtures import mariadb
from tests.fixtures import on_servers
from tests.fixtures import postgresql

# What PostgreSQL and MariaDB answer who would have to wait.
LOCKED = (sa.exc.OperationalError, db_exception.DBDeadlock)


class EpochsOn(on_servers.OnServer):
    """A transaction with epoch 4, about to be the first that records the saga."""

    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(database.CellDatabase()).database
        self.saga = runtime.new_uuid()

    def hold(self, epoch):
        self.cell.write(epochs.hold, self.saga, epoch)

    def held(self):
        return self.cell.read(epochs.seen, [self.saga])[self.saga]

    @contextlib.contextmanager
    def others_first(self, epoch):
        """Before it writes that, another transaction holds the saga with this epoch."""
        begun = []

        def executes(_connection, _cursor, statement, *_others):
            if statement.startswith('INSERT') and not begun:
                begun.append(statement)
                self.hold(epoch)

        event = self.cell.engine, 'before_cursor_execute', executes
        sa.event.listen(*event)
        try:
            yield
        finally:
            sa.event.remove(*event)
        self.assertEqual(1, len(begun))

    def test_the_same_epoch_passes(self):
        with self.others_first(4):
            self.hold(4)
        self.assertEqual(4, self.held())

    def test_a_newer_epoch_passes(self):
        with self.others_first(3):
            self.hold(4)
        self.assertEqual(4, self.held())

    def test_an_older_epoch_is_refused(self):
        with self.others_first(5):
            error = self.assertRaises(exception.StaleEpoch, self.hold, 4)
        self.assertEqual({'saga': self.saga, 'seen': 5, 'epoch': 4}, error.kwargs)
        self.assertEqual(5, self.held())

    def test_the_transaction_goes_on(self):
        """The error of its statement has not ended it."""
        other = runtime.new_uuid()

        def both(connection):
            epochs.hold(connection, self.saga, 4)
            epochs.hold(connection, other, 1)

        with self.others_first(4):
            self.cell.write(both)
        self.assertEqual({self.saga: 4, other: 1}, self.cell.read(epochs.seen, [self.saga, other]))

    def test_a_newer_epoch_waits(self):
        """Else a former owner would change something after the next one has begun."""
        self.hold(4)
        impatient = epochs.LOCK.with_for_update(nowait=True)

        def ask(connection):
            return connection.execute(impatient, {'saga': self.saga}).all()

        def change(connection):
            epochs.hold(connection, self.saga, 4)
            with self.cell.engine.connect() as other:
                self.assertRaises(LOCKED, ask, other)

        self.cell.write(change)
        self.assertEqual([(4,)], self.cell.write(ask))


class MariaDBTest(EpochsOn, testtools.TestCase):
    server_class = mariadb.MariaDB


class PostgreSQLTest(EpochsOn, testtools.TestCase):
    server_class = postgresql.PostgreSQL
