"""Errors of the database as users may see them."""

import fixtures
from oslo_db import exception as db_exception
import testtools

from nova_lite import exception
from nova_lite.db import engine


class TestDatabase(testtools.TestCase):
    def test_no_statement_reaches_who_asked(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = engine.Database(f'sqlite:///{directory}/a.sqlite')
        self.addCleanup(database.dispose)

        def lose(_connection):
            raise db_exception.DBConnectionError(
                ValueError("server gone\n[SQL: SELECT 1]\n[parameters: ('s3cret',)]")
            )

        error = self.assertRaises(exception.Unavailable, database.read, lose)
        self.assertEqual('The database is not available: server gone', str(error))
        self.assertEqual('The database is not available.', error.message)

    def test_a_lost_connection_is_made_anew(self):
        directory = self.useFixture(fixtures.TempDir()).path
        database = engine.Database(f'sqlite:///{directory}/a.sqlite')
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
