"""A database server that is paused: its connections stay open and nothing answers."""

import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import timeouts
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import models as cell_models
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.fixtures import servers_api

LIMITS = timeouts.Limits(connect_s=2, answer_s=2)
# Without limits nothing is answered before the server goes on, which it does not.
BOUND_S = 60
CELL_TIMEOUT_S = 2


def _one(connection):
    return connection.execute(sa.text('SELECT 1')).scalar()


def _execute(connection, statement):
    connection.execute(sa.text(statement))


class Case(testtools.TestCase):
    """The tests of a class share a server. server_class: its fixture"""

    server_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.share(cls)

    def setUp(self):
        super().setUp()
        self.url = self.server.create_database('cell_' + runtime.new_uuid().replace('-', '_'))

    def timed(self, function, *args, **kwargs):
        """(seconds, result)"""
        before = runtime.monotonic()
        result = function(*args, **kwargs)
        return runtime.monotonic() - before, result

    def database(self, limits=LIMITS):
        found = transactions.Database(self.url, limits=limits)
        self.addCleanup(found.dispose)
        return found

    def pause(self):
        self.server.pause()
        self.addCleanup(self.server.resume)


class Transactions:
    """The behaviour of a single transaction."""

    def test_a_connection_that_is_open(self):
        database = self.database()
        self.assertEqual(1, database.read(_one))
        self.pause()
        seconds, error = self.timed(self.assertRaises, exception.Unavailable, database.read, _one)
        self.assertThat(seconds, testtools.matchers.LessThan(BOUND_S))
        self.assertEqual('The database is not available.', error.message)
        self.server.resume()
        self.assertEqual(1, database.read(_one))

    def test_in_the_middle_of_a_transaction(self):
        database = self.database()

        def work(connection):
            _one(connection)
            self.server.pause()
            try:
                return _one(connection)
            finally:
                self.server.resume()

        seconds, _error = self.timed(self.assertRaises, exception.Unavailable, database.write, work)
        self.assertThat(seconds, testtools.matchers.LessThan(BOUND_S))
        self.assertEqual(1, database.read(_one))

    def test_a_process_that_is_paused_with_locks(self):
        """The server takes the locks from it, and its transaction was not made."""
        database, other = self.database(), self.database()
        database.write(_execute, 'CREATE TABLE held (number INT)')
        database.write(_execute, 'INSERT INTO held VALUES (0)')
        deadline = runtime.monotonic() + BOUND_S

        def is_changed():
            try:
                other.write(_execute, 'UPDATE held SET number = 2')
            except exception.Unavailable:
                # The lock was awaited for too long.
                return False
            return True

        def work(connection):
            _execute(connection, 'UPDATE held SET number = 1')
            while not is_changed():
                self.assertThat(runtime.monotonic(), testtools.matchers.LessThan(deadline))
            _execute(connection, 'UPDATE held SET number = 3')

        self.assertRaises(exception.Unavailable, database.write, work)
        held = database.read(lambda connection: connection.scalar(sa.text('SELECT * FROM held')))
        self.assertEqual(2, held)

    def test_a_connection_to_be(self):
        self.pause()
        seconds, _error = self.timed(
            self.assertRaises, exception.Unavailable, self.database().read, _one
        )
        self.assertThat(seconds, testtools.matchers.LessThan(BOUND_S))

    def test_no_limit(self):
        """As for migrations."""
        database = self.database(limits=None)
        self.assertEqual(1, database.read(_one))
        self.pause()
        answers = []
        waiting = runtime.spawn(lambda: answers.append(database.read(_one)))
        waiting.join(LIMITS.answer_s * 2)
        self.assertTrue(waiting.is_alive())
        self.server.resume()
        waiting.join(BOUND_S)
        self.assertEqual([1], answers)


class Requests:
    """The answers of the API for servers in such a cell, and for others."""

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(servers_api.ServersApi())
        self.api.conf.set_override('cell_timeout', CELL_TIMEOUT_S, group='api')
        self.api.cells.timeout_s = CELL_TIMEOUT_S
        database = self.database()
        cell_models.Base.metadata.create_all(database.engine)
        self.api.cell('cell2').db = database
        self.there = self.api.add_server(cell='cell1')
        self.hung = self.api.add_server(cell='cell2')
        self.pause()

    def call(self, method, uuid, **options):
        seconds, answer = self.timed(self.api.call, method, f'/servers/{uuid}', **options)
        self.assertThat(seconds, testtools.matchers.LessThan(BOUND_S))
        return answer

    def test_what_is_known_is_shown(self):
        shown = self.call('GET', self.hung, version='2.69').json['server']
        self.assertEqual('UNKNOWN', shown['status'])

    def test_before_2_69(self):
        self.assertEqual(503, self.call('GET', self.hung).status_code)

    def test_deletion(self):
        answer = self.call('DELETE', self.hung)
        self.assertEqual(503, answer.status_code)
        mapping = self.api.api_db.read(instance_mappings.get, self.hung)
        self.assertFalse(mapping.queued_for_delete)

    def test_other_cells_are_answered_at_once(self):
        self.api.cells.timeout_s = BOUND_S
        self.api.cell('cell2').db = self.database(limits=None)
        stuck = runtime.spawn(self.api.call, 'GET', f'/servers/{self.hung}')
        answer = self.api.call('GET', f'/servers/{self.there}')
        self.assertTrue(stuck.is_alive())
        self.assertEqual(200, answer.status_code)
        self.server.resume()
        stuck.join(BOUND_S)
        self.assertFalse(stuck.is_alive())


class TransactionsOnMariaDB(Transactions, Case):
    server_class = mariadb.MariaDB


class TransactionsOnPostgreSQL(Transactions, Case):
    server_class = postgresql.PostgreSQL


class RequestsOnMariaDB(Requests, Case):
    """PostgreSQL's, which differ in their transactions alone, are in tests/nightly."""

    server_class = mariadb.MariaDB
