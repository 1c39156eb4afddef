"""Errors of real MariaDB and PostgreSQL servers: what a caller may repeat, and what not."""

import sqlalchemy as sa
import testtools
from testtools import matchers

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import database_clock
from nova_lite.db import patterns
from nova_lite.db import timeouts
from nova_lite.db import transactions
from nova_lite.db import types
from nova_lite.db.cell import models as cell_models
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.fixtures import servers_api

LIMITS = timeouts.Limits(connect_s=10, answer_s=2)
NAMES = sa.table('names', sa.column('id'), sa.column('name'))


class Case(testtools.TestCase):
    """A table with one row on a server of the class. server_class: its fixture"""

    server_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.share(cls)
        cls.url = cls.server.create_database('cell')

    def setUp(self):
        super().setUp()
        self.database = self.open(LIMITS)
        self.other = self.open(None)
        self.run_sql(self.database, 'DROP TABLE IF EXISTS names')
        self.run_sql(self.database, 'CREATE TABLE names (id INT PRIMARY KEY, name VARCHAR(9))')
        self.run_sql(self.database, "INSERT INTO names VALUES (1, 'old')")

    def open(self, limits, **query):
        url = sa.make_url(self.url).update_query_dict(query)
        found = transactions.Database(url.render_as_string(hide_password=False), limits=limits)
        self.addCleanup(found.dispose)
        return found

    @staticmethod
    def run_sql(database, statement):
        database.write(lambda connection: connection.exec_driver_sql(statement))

    @staticmethod
    def rename(connection, name='new'):
        connection.execute(NAMES.update().where(NAMES.c.id == 1).values(name=name))

    def name(self):
        return self.other.read(lambda connection: connection.scalar(sa.select(NAMES.c.name)))

    def process(self, connection):
        """The server's number of a connection."""
        return connection.exec_driver_sql(self.process_sql).scalar()

    def assert_unavailable(self, function, *, database=None, unknown=False):
        """The transaction fails for now; unknown: its outcome. Returns the error."""
        database = database or self.database
        error = self.assertRaises(exception.Unavailable, database.write, function)
        self.assertTrue(error.transient)
        self.assertEqual(unknown, error.kwargs.get('may_have_committed', False))
        return error


class Common:
    """The cases that both servers share."""

    def test_a_row_that_another_session_locks(self):
        with self.other.engine.begin() as holder:
            self.rename(holder)
            self.assert_unavailable(self.rename)
        self.database.write(self.rename, 'newer')
        self.assertEqual('newer', self.name())

    def test_a_lock_that_is_waited_for_only_briefly(self):
        def briefly(connection):
            connection.exec_driver_sql(self.brief_wait)
            self.rename(connection)

        with self.other.engine.begin() as holder:
            self.rename(holder)
            tries = []
            self.assert_unavailable(lambda connection: (tries.append(1), briefly(connection)))
        self.assertEqual([1], tries)

    def test_a_connection_that_is_ended_in_a_transaction(self):
        """No part of it took place, so it is repeated on another connection."""
        seen = []

        def work(connection):
            self.rename(connection)
            seen.append(self.process(connection))
            if len(seen) == 1:
                self.end(seen[0])
            self.rename(connection, 'newer')

        self.database.write(work)
        self.assertEqual(2, len(set(seen)))
        self.assertEqual('newer', self.name())

    def test_a_connection_that_is_ended_before_commit(self):
        tries = []

        def work(connection):
            tries.append(1)
            self.rename(connection)
            self.end(self.process(connection))

        self.assert_unavailable(work, unknown=True)
        self.assertEqual([1], tries)
        self.database.write(self.rename, 'newer')
        self.assertEqual('newer', self.name())

    def test_a_pattern_that_takes_long(self):
        """It is the client's fault, and other queries of the connection may take longer."""

        def work(connection):
            with patterns.bounded(connection, [NAMES.c.name.regexp_match('o')]):
                connection.exec_driver_sql(self.long_sleep)

        self.assertRaises(patterns.SlowPattern, self.other.read, work)
        found = self.other.read(lambda connection: connection.scalar(sa.text(self.limit_sql)))
        self.assertEqual(0, int(found))

    def test_a_connection_that_is_ended_while_a_pattern_is_matched(self):
        """The limit of its time has gone with it, and need not be lifted."""
        condition, seen = NAMES.c.name.regexp_match('^o'), []

        def work(connection):
            seen.append(self.process(connection))
            with patterns.bounded(connection, [condition]):
                if len(seen) == 1:
                    self.end(seen[0])
                return connection.scalars(sa.select(NAMES.c.name).where(condition)).all()

        self.assertEqual(['old'], self.database.read(work))
        self.assertEqual(2, len(set(seen)))

    def test_a_server_that_refuses_writes(self):
        """Another server accepts them: connections to this one are given up."""
        before = self.database.read(self.process)
        self.refuse_writes(True)
        self.addCleanup(self.refuse_writes, False)
        self.assert_unavailable(self.rename)
        self.refuse_writes(False)
        self.database.write(self.rename)
        self.assertNotEqual(before, self.database.read(self.process))

    def test_isolation_whatever_the_url_names(self):
        query = self.other_isolation
        self.assertThat(
            self.open(None, **query).read(self.isolation), matchers.Contains('READ COMMITTED')
        )
        self.assertThat(
            self.open(LIMITS, **query).read(self.isolation), matchers.Contains('READ COMMITTED')
        )

    def test_the_clock_of_the_server(self):
        """Of the present, in UTC, to the microsecond; also where others have waited."""
        instants = sa.table('instants', sa.column('id'), sa.column('at', types.Time()))
        metadata = sa.MetaData()
        sa.Table('instants', metadata, sa.Column('id', sa.Integer), sa.Column('at', types.Time()))
        metadata.create_all(self.database.engine)
        self.addCleanup(metadata.drop_all, self.database.engine)

        def write(connection):
            found = connection.execute(
                sa.select(
                    database_clock.now(), database_clock.after(2.5), database_clock.after(-86400)
                )
            ).one()
            self.run_sql(self.other, self.short_sleep)
            connection.execute(instants.insert().values(id=1, at=database_clock.after(60)))
            left = connection.scalar(sa.select(instants.c.at))
            self.assertTrue(
                connection.scalar(
                    sa.select(database_clock.after(59) < instants.c.at).select_from(instants)
                )
            )
            return *found, left

        now, later, before, left = self.database.write(write)
        self.assertEqual(
            (2.5, -86400), ((later - now).total_seconds(), (before - now).total_seconds())
        )
        self.assertThat((left - now).total_seconds(), matchers.GreaterThan(60.0))
        off_s = abs((runtime.naive_now() - now).total_seconds())
        self.assertThat(off_s, matchers.LessThan(60))

    def isolation(self, connection):
        found = connection.exec_driver_sql(self.isolation_sql).scalar()
        return found.upper().replace('-', ' ')


class TestMariaDB(Common, Case):
    server_class = mariadb.MariaDB
    short_sleep, long_sleep = 'DO SLEEP(0.05)', 'SELECT SLEEP(60)'
    limit_sql = 'SELECT @@SESSION.max_statement_time'
    brief_wait = 'SET SESSION innodb_lock_wait_timeout = 1'
    process_sql = 'SELECT CONNECTION_ID()'
    isolation_sql = 'SELECT @@SESSION.tx_isolation'
    other_isolation = {'init_command': "SET SESSION tx_isolation = 'REPEATABLE-READ'"}

    def command(self, statement):
        with self.server.connect('root', '') as connection, connection.cursor() as cursor:
            cursor.execute(statement)

    def end(self, process):
        self.command(f'KILL {process}')

    def refuse_writes(self, refuse):
        self.command(f'SET GLOBAL read_only = {int(refuse)}')

    def test_the_first_statement_of_the_url_and_ours(self):
        names = ('sort_buffer_size', 'idle_transaction_timeout')
        for first, found in (
            ('SET SESSION sort_buffer_size = 65536', (65536, 2)),
            ('SET sort_buffer_size = 65536, Idle_Transaction_Timeout = 9', (65536, 9)),
        ):
            database = self.open(LIMITS, init_command=first)

            def shown(connection):
                return connection.exec_driver_sql(f'SELECT @@{names[0]}, @@{names[1]}').one()

            self.assertEqual(found, database.read(shown))

    def test_a_commit_that_is_refused(self):
        """SQLAlchemy leaves the transaction open; the next one must not be part of it."""
        self.addCleanup(self.refuse_writes, False)

        def work(connection):
            self.rename(connection)
            self.refuse_writes(True)

        self.assert_unavailable(work, unknown=True)
        self.refuse_writes(False)
        self.assertEqual('old', self.database.read(self.scalar))
        self.other.write(self.rename, 'newer')
        self.assertEqual('newer', self.name())

    @staticmethod
    def scalar(connection):
        return connection.scalar(sa.select(NAMES.c.name))


class TestPostgreSQL(Common, Case):
    server_class = postgresql.PostgreSQL
    short_sleep, long_sleep = 'SELECT pg_sleep(0.05)', 'SELECT pg_sleep(60)'
    limit_sql = 'SHOW statement_timeout'
    brief_wait = "SET LOCAL lock_timeout = '200ms'"
    process_sql = 'SELECT pg_backend_pid()'
    isolation_sql = 'SHOW transaction_isolation'
    other_isolation = {'options': r'-c default_transaction_isolation=serializable'}

    def command(self, statement):
        with self.server.connect('root', '', 'cell') as connection:
            connection.execute(statement)

    def end(self, process):
        self.command(f'SELECT pg_terminate_backend({process}, 5000)')

    def refuse_writes(self, refuse):
        value = 'on' if refuse else 'off'
        self.command(f'ALTER SYSTEM SET default_transaction_read_only = {value}')
        self.command('SELECT pg_reload_conf()')
        # A session looks for it when it is idle: those of the tests begin after that.
        deadline = runtime.monotonic() + 60
        while self.setting() != value:
            self.assertThat(runtime.monotonic(), matchers.LessThan(deadline))
            runtime.sleep(0.02)

    def setting(self):
        with self.server.connect('root', '', 'cell') as connection:
            return connection.execute('SHOW default_transaction_read_only').fetchone()[0]

    def test_options_of_the_url_and_ours(self):
        database = self.open(LIMITS, options='-c work_mem=3MB')

        def shown(connection):
            return [
                connection.exec_driver_sql(f'SHOW {name}').scalar()
                for name in ('work_mem', 'statement_timeout')
            ]

        self.assertEqual(['3MB', '2s'], database.read(shown))

    def test_a_transaction_that_cannot_be_serialized(self):
        """Rolled back for another one: it is repeated, and not only when it is a deadlock."""
        tries = []

        def work(connection):
            connection.exec_driver_sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
            connection.execute(sa.select(NAMES.c.name)).all()
            tries.append(1)
            if len(tries) == 1:
                self.other.write(self.rename, 'between')
            self.rename(connection)

        self.database.write(work)
        self.assertEqual([1, 1], tries)
        self.assertEqual('new', self.name())


class TestRequest(testtools.TestCase):
    """The answer that a client gets."""

    def test_a_record_that_another_session_locks(self):
        servers.require(postgresql.PostgreSQL)
        server = self.useFixture(postgresql.PostgreSQL())
        url = server.create_database('cell2')
        database, other = transactions.Database(url, limits=LIMITS), transactions.Database(url)
        self.addCleanup(database.dispose)
        self.addCleanup(other.dispose)
        cell_models.Base.metadata.create_all(database.engine)
        api = self.useFixture(servers_api.ServersApi())
        api.cell('cell2').db = database
        uuid = api.add_server(cell='cell2')
        records = cell_models.Instance.__table__
        with other.engine.begin() as holder:
            holder.execute(sa.select(records.c.id).where(records.c.uuid == uuid).with_for_update())
            answer = api.call('POST', f'/servers/{uuid}/action', body={'pause': None})
            self.assertEqual(503, answer.status_code)
        answer = api.call('POST', f'/servers/{uuid}/action', body={'pause': None})
        self.assertEqual(202, answer.status_code)
