"""Connections to a database server: what they cost, and how they end."""

import os

from oslo_db import exception as db_exception
import sqlalchemy as sa
import testtools

from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.dialects import mariadb as connections
from nova_lite.simcloud import database as simcloud
from tests.fixtures import clock
from tests.fixtures import mariadb


class TestConnections(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = mariadb.MariaDB()
        cls.server.setUp()
        cls.addClassCleanup(cls.server.cleanUp)
        cls.url = cls.server.create_database('connections')

    def setUp(self):
        super().setUp()
        self.database = transactions.Database(self.url, threads=1)
        self.addCleanup(self.database.dispose)

    def one(self):
        return self.database.read(lambda connection: connection.scalar(sa.text('SELECT 1')))

    def connection_id(self):
        return self.database.read(
            lambda connection: connection.scalar(sa.text('SELECT CONNECTION_ID()'))
        )

    def questions(self):
        """Return how many statements the connection has sent, this one among them."""
        shown = sa.text("SHOW SESSION STATUS LIKE 'Questions'")
        return int(self.database.read(lambda connection: connection.execute(shown).one()[1]))

    def kill(self):
        with self.server.connect('root', '') as connection, connection.cursor() as cursor:
            cursor.execute(f'KILL {self.connection_id()}')

    def test_connections_of_simcloud_are_ours(self):
        found = simcloud.make_engine(self.url)
        self.addCleanup(found.dispose)
        with found.connect() as connection:
            self.assertIsInstance(connection.connection.driver_connection, connections.Connection)

    def test_errors_have_names_for_both_names_of_the_driver(self):
        table = sa.Table('twice', sa.MetaData(), sa.Column('id', sa.Integer, primary_key=True))
        self.database.write(table.create, checkfirst=True)
        row = sa.insert(table).values(id=1)
        for driver in ('mysql+pymysql', 'mariadb+pymysql'):
            url = sa.make_url(self.url).set(drivername=driver)
            found = transactions.Database(url.render_as_string(hide_password=False), threads=1)
            self.addCleanup(found.dispose)
            with testtools.ExpectedException(db_exception.DBDuplicateEntry):
                found.write(lambda connection: [connection.execute(row) for _ in range(2)])

    def test_a_read_is_a_statement(self):
        first, before = self.questions(), self.questions()
        own = before - first
        for _ in range(10):
            self.one()
        self.assertEqual(10, self.questions() - before - own)

    def test_a_write_has_a_beginning_and_an_end(self):
        first, before = self.questions(), self.questions()
        own = before - first
        self.database.write(lambda connection: connection.scalar(sa.text('SELECT 1')))
        self.assertEqual(3, self.questions() - before - own)

    def test_a_write_that_fails_leaves_nothing(self):
        """Also after reads on the same connection, which are no transactions."""
        table = sa.Table('failed', sa.MetaData(), sa.Column('id', sa.Integer, primary_key=True))
        self.database.write(table.create, checkfirst=True)

        def insert(connection, error=None):
            connection.execute(sa.insert(table).values(id=1))
            if error is not None:
                raise error

        def rows(connection):
            return len(connection.execute(sa.select(table)).all())

        for _again in range(2):
            self.assertEqual(0, self.database.read(rows))
            with testtools.ExpectedException(ZeroDivisionError):
                self.database.write(insert, ZeroDivisionError())
        self.database.write(insert)
        self.assertEqual(1, self.database.read(rows))

    def test_transactions_of_the_engine_itself_may_write(self):
        """Whatever the transaction before them was."""
        self.one()
        first, before = self.questions(), self.questions()
        with self.database.engine.begin() as connection:
            connection.execute(sa.text('SELECT 1'))
        self.assertEqual(3, self.questions() - before - (before - first))

    def test_the_one_that_was_used_last_is_used_next(self):
        """The server has its thread and memory at hand."""
        found = transactions.Database(self.url, threads=2)
        self.addCleanup(found.dispose)
        shown = sa.text('SELECT CONNECTION_ID()')
        with found.engine.connect() as one, found.engine.connect() as other:
            first, second = one.scalar(shown), other.scalar(shown)
        self.assertNotEqual(first, second)
        for _again in range(2):
            self.assertEqual(first, found.read(lambda connection: connection.scalar(shown)))

    def test_settings(self):
        isolation, mode = self.database.read(
            lambda connection: connection.execute(
                sa.text('SELECT @@SESSION.tx_isolation, @@SESSION.sql_mode')
            ).one()
        )
        self.assertEqual('READ-COMMITTED', isolation)
        self.assertIn('TRADITIONAL', mode)

    def test_killed_while_it_is_used_again_and_again(self):
        before = self.connection_id()
        self.kill()
        self.assertEqual(1, self.one())
        self.assertNotEqual(before, self.connection_id())

    def test_killed_while_it_rests(self):
        later = clock.Later()
        with runtime.install(later):
            before = self.connection_id()
            self.kill()
            later.ahead_s = 60
            self.assertEqual(1, self.one())
            self.assertNotEqual(before, self.connection_id())

    def test_a_child_leaves_its_parents_connection_alone(self):
        before = self.connection_id()
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            os.write(tell, str(self.connection_id()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertNotEqual(before, int(os.read(told, 20)))
        self.assertEqual(before, self.connection_id())
