"""The private servers come up side by side and come back after every fault."""

import pathlib

import kombu
import sqlalchemy
import testtools

from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import rabbit
from tests.fixtures import servers


class TestRabbit(testtools.TestCase):
    """The tests share two brokers: one takes more seconds to start than a test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(rabbit.Rabbit)
        cls.top, cls.cell = rabbit.Rabbit(), rabbit.Rabbit('cell1')
        for broker in (cls.top, cls.cell):
            broker.wait = False
            broker.setUp()
            cls.addClassCleanup(broker.cleanUp)
        for broker in (cls.top, cls.cell):
            broker.wait_until_it_answers()

    def _publish(self, url, queue):
        with kombu.Connection(_kombu_url(url)) as connection:
            connection.SimpleQueue(queue).put('hello')

    def _depth(self, url, queue):
        with kombu.Connection(_kombu_url(url)) as connection:
            return connection.SimpleQueue(queue).qsize()

    def test_brokers_side_by_side_know_nothing_of_each_other(self):
        self.assertNotEqual(self.top.port, self.cell.port)
        self._publish(self.cell.vhost_url('cell1'), 'only-here')
        self.assertNotIn('only-here', self.top.ctl('list_queues', 'name'))
        listed = self.cell.ctl('list_queues', '--vhost', 'cell1', 'name')
        self.assertIn('only-here', listed)

    def test_durable_queue_survives_restart_and_kill(self):
        broker = self.top
        self._publish(broker.url, 'kept')
        broker.restart()
        self.assertEqual(1, self._depth(broker.url, 'kept'))
        broker.kill()
        self.assertFalse(broker.answers())
        broker.start()
        self.assertIn('kept', broker.ctl('list_queues', 'name'))

    def test_frozen_broker_answers_no_one(self):
        broker = self.cell
        broker.pause()
        self.addCleanup(broker.resume)
        self.assertFalse(broker.answers())
        broker.resume()
        broker.wait_until_it_answers()


class DatabaseCases:
    """Cases for both database servers; `server_class` says which one."""

    server_class = None

    def setUp(self):
        super().setUp()
        servers.require(self.server_class)
        self.server = self.useFixture(self.server_class())

    def _execute(self, url, statement):
        engine = sqlalchemy.create_engine(url)
        self.addCleanup(engine.dispose)
        with engine.begin() as connection:
            result = connection.execute(sqlalchemy.text(statement))
            return result.fetchall() if result.returns_rows else None

    def test_databases_are_separate(self):
        first = self.server.create_database('cell1')
        second = self.server.create_database('cell2')
        self._execute(first, 'CREATE TABLE t (a INTEGER)')
        self.assertRaises(sqlalchemy.exc.DBAPIError, self._execute, second, 'SELECT * FROM t')

    def test_rows_survive_restart_and_kill(self):
        url = self.server.create_database('api')
        self._execute(url, 'CREATE TABLE t (a INTEGER)')
        self._execute(url, 'INSERT INTO t VALUES (1)')
        self.server.restart()
        self.assertEqual([(1,)], self._execute(url, 'SELECT a FROM t'))
        self.server.kill()
        self.assertFalse(self.server.answers())
        self.server.start()
        self.assertEqual([(1,)], self._execute(url, 'SELECT a FROM t'))

    def test_what_was_committed_survives_a_kill_right_after(self):
        url = self.server.create_database('api')
        self._execute(url, 'CREATE TABLE t (a INTEGER)')
        for number in range(3):
            self._execute(url, f'INSERT INTO t VALUES ({number})')
            self.server.kill()
            self.server.start()
            found = self._execute(url, 'SELECT a FROM t ORDER BY a')
            self.assertEqual([(each,) for each in range(number + 1)], found)

    def test_stop_does_not_wait_for_clients(self):
        url = self.server.create_database('api')
        engine = sqlalchemy.create_engine(url)
        self.addCleanup(engine.dispose)
        connection = engine.connect()
        self.addCleanup(connection.invalidate)
        connection.execute(sqlalchemy.text('SELECT 1'))
        self.server.stop()
        self.assertFalse(self.server.daemon.running)


class TestMariaDB(DatabaseCases, testtools.TestCase):
    server_class = mariadb.MariaDB

    def test_a_server_that_starts_leaves_the_temporary_tables_of_another(self):
        with self.server.connect('root', '', 'mysql') as connection:
            cursor = connection.cursor()
            cursor.execute('CREATE TEMPORARY TABLE t (a INTEGER) ENGINE=Aria')
            self.useFixture(mariadb.MariaDB())
            cursor.execute('INSERT INTO t VALUES (1)')
            cursor.execute('DROP TEMPORARY TABLE t')
            self.assertEqual(0, cursor.execute('SHOW WARNINGS'))


class TestPostgreSQL(DatabaseCases, testtools.TestCase):
    server_class = postgresql.PostgreSQL

    def test_nothing_is_left_of_a_server_that_was_killed(self):
        with self.server.connect('root', ''):
            children = pathlib.Path(f'/proc/{self.server.daemon.pid}/task').glob('*/children')
            backends = ' '.join(each.read_text() for each in children).split()
            self.server.pause()
            self.server.kill()
        self.assertNotEqual([], backends)
        self.assertEqual([], [pid for pid in backends if _runs(pid)])

    def test_it_freezes_while_clients_leave(self):
        for _time in range(50):
            self.server.connect('root', '').close()
            self.server.pause()
            self.server.resume()
        self.assertTrue(self.server.answers())


def _runs(pid):
    """Not when it has ended, whether or not its parent has noticed."""
    try:
        return pathlib.Path('/proc', pid, 'cmdline').read_bytes() != b''
    except OSError:
        return False


def _kombu_url(url):
    return url.replace('rabbit://', 'amqp://', 1)
