"""Errors of the database as users may see them."""

import logging
import traceback

import fixtures
from oslo_db import exception as db_exception
import prometheus_client
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.dialects import writing
from nova_lite.lab.bench import counts
from tests.fixtures import ports

MISSING = sa.Table('missing', sa.MetaData(), sa.Column('secret', sa.String))


class TestDatabase(testtools.TestCase):
    def test_no_statement_reaches_who_asked(self):
        """Errors of statements have the driver's text; a DEBUG log has the statement."""
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)
        logger = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        statement = sa.insert(MISSING).values(secret='s3cret')
        error = self.assertRaises(
            db_exception.DBNonExistentTable,
            database.write,
            lambda connection: connection.execute(statement),
        )
        self.assertEqual('(sqlite3.OperationalError) no such table: missing', str(error))
        details = ''.join(traceback.format_exception(error))
        for text in ('INSERT INTO', 's3cret', 'sqlalche.me'):
            self.assertNotIn(text, details)
        self.assertIn('The statement was: INSERT INTO missing', logger.output)

    def test_a_lost_connection_is_said_without_an_address(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)

        def lose(_connection):
            raise db_exception.DBConnectionError(ValueError('server gone'))

        error = self.assertRaises(exception.Unavailable, database.read, lose)
        self.assertEqual(
            f'The database is not available: {directory}/a.sqlite: server gone', str(error)
        )
        self.assertEqual('The database is not available.', error.message)

    def test_a_full_disk(self):
        """SQLite's own limit of pages makes it so. What is said names what to do."""
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite', threads=1)
        self.addCleanup(database.dispose)
        database.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (x TEXT)'))

        def fill(connection):
            connection.exec_driver_sql('PRAGMA max_page_count = 2')
            connection.exec_driver_sql('INSERT INTO t VALUES (?)', ('x' * 100_000,))

        error = self.assertRaises(exception.DiskFull, database.write, fill)
        self.assertEqual(
            'The disk of the database is full. Free space on it, and repeat the request.',
            error.message,
        )

        def count(connection):
            connection.exec_driver_sql('PRAGMA max_page_count = 1000')
            return connection.exec_driver_sql('SELECT count(*) FROM t').scalar_one()

        self.assertEqual(0, database.read(count))

    def test_a_server_that_is_away_takes_one_line_of_a_log(self):
        port = self.useFixture(ports.Port()).number
        for driver in ('mysql+pymysql', 'postgresql+psycopg'):
            database = transactions.Database(f'{driver}://user@127.0.0.1:{port}/cell')
            self.addCleanup(database.dispose)
            error = self.assertRaises(exception.Unavailable, database.read, lambda _c: None)
            self.assertIn('127.0.0.1', str(error))
            self.assertEqual([str(error)], str(error).splitlines())

    def test_a_lost_connection_is_made_anew(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)
        database.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (n INT)'))
        tries = []

        def lose_once(connection):
            connection.exec_driver_sql('INSERT INTO t VALUES (1)')
            tries.append(1)
            if len(tries) == 1:
                raise db_exception.DBConnectionError(ValueError('server gone'))

        database.write(lose_once)
        self.assertEqual(2, len(tries))
        self.assertEqual(
            [(1,)],
            database.read(lambda connection: connection.exec_driver_sql('SELECT * FROM t').all()),
        )

    def test_a_database_that_is_locked(self):
        directory = self.useFixture(fixtures.TempDir()).path
        url = f'sqlite:///{directory}/a.sqlite'
        database, other = transactions.Database(url), transactions.Database(url)
        self.addCleanup(database.dispose)
        self.addCleanup(other.dispose)
        sa.event.listen(database.engine, 'connect', _do_not_wait)

        def insert(connection):
            connection.exec_driver_sql('INSERT INTO t VALUES (1)')

        other.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (n INT)'))
        with other.engine.begin() as holder:
            insert(holder)
            error = self.assertRaises(exception.Unavailable, database.write, insert)
            self.assertTrue(error.transient)
            self.assertNotIn('may_have_committed', error.kwargs)
        database.write(insert)

    def test_a_commit_that_fails(self):
        """Its connection is given up: the transaction is still open there."""
        directory = self.useFixture(fixtures.TempDir()).path
        url = f'sqlite:///{directory}/a.sqlite'
        database, other = transactions.Database(url), transactions.Database(url)
        self.addCleanup(database.dispose)
        self.addCleanup(other.dispose)
        # Without a write-ahead log, readers hold up a COMMIT.
        for each in (database, other):
            sa.event.listen(each.engine, 'connect', _do_not_wait)
            sa.event.listen(each.engine, 'connect', _keep_no_log)
        database.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (n INT)'))

        def insert(connection):
            connection.exec_driver_sql('INSERT INTO t VALUES (1)')

        def count(connection):
            return connection.exec_driver_sql('SELECT count(*) FROM t').scalar()

        with other.engine.connect() as reader:
            writing.declare(reader.info, False)
            self.assertEqual(0, count(reader))
            error = self.assertRaises(exception.Unavailable, database.write, insert)
            self.assertTrue(error.kwargs['may_have_committed'])
        database.write(insert)
        self.assertEqual(1, other.read(count))

    def test_a_transaction_that_only_reads_keeps_no_writer_waiting(self):
        directory = self.useFixture(fixtures.TempDir()).path
        url = f'sqlite:///{directory}/a.sqlite'
        database, other = transactions.Database(url), transactions.Database(url)
        self.addCleanup(database.dispose)
        self.addCleanup(other.dispose)
        sa.event.listen(other.engine, 'connect', _do_not_wait)

        def insert(connection):
            connection.exec_driver_sql('INSERT INTO t VALUES (1)')

        def count(connection):
            return connection.exec_driver_sql('SELECT count(*) FROM t').scalar()

        def meet(connection, function, *args):
            before = count(connection)
            function(*args)
            return before, count(connection)

        def refused(function):
            self.assertRaises(exception.Unavailable, other.write, function)

        database.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (n INT)'))
        for _again in range(2):
            # On the same connection: the kind of the former transaction is not kept.
            before, after = database.read(meet, other.write, insert)
            self.assertEqual(before, after, 'what it sees changes')
            before, after = database.write(meet, refused, insert)
            self.assertEqual(before, after)
        self.assertEqual(2, database.read(count))

    def test_transactions_and_statements_are_counted(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/counted.sqlite')
        self.addCleanup(database.dispose)

        def insert(connection, error=None):
            connection.execute(sa.text('INSERT INTO t VALUES (:n)'), [{'n': 1}, {'n': 2}])
            connection.execute(sa.text('INSERT INTO t VALUES (3)'))
            if error is not None:
                raise error

        database.write(lambda connection: connection.exec_driver_sql('CREATE TABLE t (n INT)'))
        before = prometheus_counts()
        database.write(insert)
        self.assertRaises(exception.Conflict, database.write, insert, exception.Conflict(reason=''))
        database.read(lambda connection: connection.exec_driver_sql('SELECT * FROM t').all())
        done = counts.between({'': before}, {'': prometheus_counts()})['']
        expected = {'reading transactions': 1, 'statements': 5, 'writing transactions': 1}
        self.assertEqual({f'{what} of counted': n for what, n in expected.items()}, done)

    def test_no_event_slows_down_statements(self):
        """SQLAlchemy runs through all kinds of events for each statement, if there is one."""
        directory = self.useFixture(fixtures.TempDir()).path
        for url in (f'sqlite:///{directory}/a.sqlite', 'mysql+pymysql://x@127.0.0.1:1/y'):
            database = transactions.Database(url)
            self.addCleanup(database.dispose)
            self.assertFalse(database.engine._has_events)

    def test_the_connection_that_was_used_last_is_used_next(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)
        with database.engine.connect() as one, database.engine.connect() as other:
            found = [each.connection.driver_connection for each in (one, other)]
        # `other` is closed first.
        for _again in range(2):
            self.assertIs(found[0], database.read(lambda it: it.connection.driver_connection))

    def test_an_error_of_ours_stays_one(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = transactions.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)
        error = self.assertRaises(
            db_exception.DBError,
            database.read,
            lambda connection: connection.execute(
                sa.text('SELECT * FROM nowhere WHERE a = :a'), {'a': 's3cret'}
            ),
        )
        self.assertNotIn('s3cret', str(error))


def prometheus_counts():
    """Return what is counted of the databases called `counted`."""
    found = counts.counted(prometheus_client.generate_latest().decode())
    return {what: number for what, number in found.items() if what.endswith(' of counted')}


def _do_not_wait(dbapi_connection, _record):
    dbapi_connection.execute('PRAGMA busy_timeout=0')


def _keep_no_log(dbapi_connection, _record):
    dbapi_connection.execute('PRAGMA journal_mode=DELETE')
