"""The placement application on MariaDB and PostgreSQL, with requests side by side."""

import fixtures
from placement import db_api
from placement import exception as placement_exception
from placement.objects import allocation
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.dialects import mariadb as connections
from nova_lite.wsgi import placement
from tests.fixtures import clock
from tests.fixtures import http
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.clients import base

# More than the connections that SQLAlchemy pools unless told otherwise.
THREADS = 16
# The end of a query of the connections to a database of MariaDB, and their transactions.
PROCESSES = (
    'FROM information_schema.processlist'
    ' LEFT JOIN information_schema.innodb_trx ON trx_mysql_thread_id = id'
    ' WHERE db = %(database)s'
)


class PlacementOn:
    """Claims, moves and queries at the same time, without one refused or failed.

    turns: how often each thread claims and moves; tests/nightly has more
    other_isolation: query of a URL by which connections begin at another isolation level
    """

    turns = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        url = sa.make_url(
            servers.shared(cls.server).create_database(f'placement_{runtime.new_uuid()}')
        )
        url = url.update_query_dict(cls.other_isolation).render_as_string(hide_password=False)
        # Its migrations take seconds.
        cls.application = placement.make_app(url, auth_strategy='noauth', threads=THREADS)

    def setUp(self):
        super().setUp()
        self.http = self.useFixture(http.Http({'/placement': self.application}, threads=THREADS))
        self.connect(self.http.url + '/placement')

    def test_side_by_side(self):
        host = self.add_host(
            self.id(), vcpus=THREADS * self.turns, ram_mb=512 * THREADS * self.turns
        )
        done = []

        def work():
            for _ in range(self.turns):
                consumer, migration = base.consumer(), runtime.new_uuid()
                found = self.placement.candidates(self.admin, [('resources', 'VCPU:1')])
                done.append(len(found['allocation_requests']))
                done.append(
                    self.placement.claim(self.admin, consumer, base.request(host), new=True)
                )
                done.append(
                    self.placement.move_allocations(self.admin, consumer.uuid, migration, new=True)
                )
                done.append(self.placement.delete_allocations(self.admin, migration))

        threads = [runtime.spawn(work) for _ in range(THREADS)]
        for thread in threads:
            thread.join()
        self.assertEqual([True] * 4 * THREADS * self.turns, [bool(one) for one in done])
        self.assertEqual({}, self.providers.allocations(self.admin, host))

        with db_api.get_placement_engine().connect() as connection:
            found = connection.exec_driver_sql(self.isolation_sql).scalar()
        self.assertEqual('read committed', found.lower().replace('-', ' '))

    def test_all_threads_lose_a_race(self):
        """Each claim holds a connection when it needs its second."""
        host = self.add_host(self.id(), vcpus=THREADS, ram_mb=512 * THREADS)
        self.useFixture(LostRaces(THREADS))
        done = []

        def work():
            consumer = base.consumer()
            done.append(self.placement.claim(self.admin, consumer, base.request(host), new=True))

        threads = [runtime.spawn(work) for _ in range(THREADS)]
        for thread in threads:
            thread.join()
        self.assertEqual([True] * THREADS, [bool(one) for one in done])

    def test_transactions(self):
        """Parts of a provider are written in one transaction each, and a query is one."""
        host = self.add_host(self.id())
        begun = self.useFixture(Begun())
        for call in (
            lambda: self.providers.set_inventories(self.admin, host, base.inventories(8)),
            lambda: self.providers.set_traits(self.admin, host, ['OWNER_NOVA'], generation=2),
            lambda: self.placement.candidates(self.admin, [('resources', 'VCPU:1,DISK_GB:1')]),
        ):
            self.http.requests.clear()
            begun.count = 0
            call()
            self.assertEqual(len(self.http.requests), begun.count, self.http.requests)

    def test_a_refused_part_leaves_nothing(self):
        host = self.add_host(self.id())
        bad = base.inventories(8) | {'CUSTOM_UNKNOWN': {'total': 1}}
        for part, body in (
            ('inventories', {'inventories': bad}),
            ('traits', {'traits': ['CUSTOM_UNKNOWN', 'OWNER_NOVA']}),
        ):
            response = self.placement.service.call(
                self.admin,
                'PUT',
                f'/resource_providers/{host}/{part}',
                json={**body, 'resource_provider_generation': 1},
                errors={400: None},
            )
            self.assertEqual(400, response.status_code)
        self.assertEqual((set(), 1), self.providers.traits(self.admin, host))
        found, generation = self.providers.inventories(self.admin, host)
        self.assertEqual((4, 1), (found['VCPU']['total'], generation))


class Begun(fixtures.Fixture):
    """Counts the transactions of placement that begin."""

    def _setUp(self):
        self.count = 0
        engine = db_api.get_placement_engine()
        sa.event.listen(engine, 'begin', self._begun)
        self.addCleanup(sa.event.remove, engine, 'begin', self._begun)

    def _begun(self, _connection):
        self.count += 1


class LostRaces(fixtures.Fixture):
    """A wrapper that makes the first write of allocations of each of so many threads lose a race.

    None goes on before all are there, each with an open transaction.
    """

    def __init__(self, threads):
        super().__init__()
        self.missing = threads
        self.lock, self.all_there = runtime.Lock(), runtime.Event()
        self.thread = runtime.Local()

    def _setUp(self):
        self.write = allocation._set_allocations
        self.useFixture(
            fixtures.MonkeyPatch('placement.objects.allocation._set_allocations', self.lose)
        )

    def lose(self, context, allocations):
        if getattr(self.thread, 'lost', False):
            return self.write(context, allocations)
        self.thread.lost = True
        context.session.execute(sa.text('SELECT 1'))
        with self.lock:
            self.missing -= 1
            if not self.missing:
                self.all_there.set()
        self.all_there.wait(60)
        raise placement_exception.ResourceProviderConcurrentUpdateDetected()


class Killer(fixtures.Fixture):
    """Kills the connection of the first statement that begins like this, before it is sent.

    killed: how many
    """

    def __init__(self, beginning):
        super().__init__()
        self._beginning, self.killed = beginning, 0

    def _setUp(self):
        self._engine = db_api.get_placement_engine()
        event = self._engine, 'before_cursor_execute', self._kill
        sa.event.listen(*event)
        self.addCleanup(sa.event.remove, *event)

    def _kill(self, connection, _cursor, statement, *_others):
        if self.killed or not statement.startswith(self._beginning):
            return
        self.killed += 1
        number = connection.connection.driver_connection.thread_id()
        with self._engine.connect() as other:
            other.exec_driver_sql(f'KILL {number}')
            other.rollback()


class MariaDBTest(PlacementOn, base.PlacementClientTestCase):
    """On MariaDB."""

    server = mariadb.MariaDB
    isolation_sql = 'SELECT @@SESSION.tx_isolation'
    other_isolation = {'init_command': "SET SESSION tx_isolation = 'REPEATABLE-READ'"}

    def test_connections_are_ours(self):
        with db_api.get_placement_engine().connect() as connection:
            found = connection.connection.driver_connection
        self.assertIsInstance(found, connections.Connection)

    def test_the_one_that_was_used_last_is_used_next(self):
        engine = db_api.get_placement_engine()
        with engine.connect() as one, engine.connect():
            last = one.connection.driver_connection
        with engine.connect() as found:
            self.assertIs(last, found.connection.driver_connection)

    def test_messages(self):
        """The server gets statements and the ends of transactions; no connection is rolled back."""
        with db_api.get_placement_engine().connect() as other:
            # Also makes a connection for the request that is counted, and reads standard traits.
            first, host = (self.add_host(f'{self.id()}-{number}') for number in range(2))
            self.providers.set_traits(self.admin, first, ['OWNER_NOVA'], generation=1)
            before = self.status(other)
            self.providers.set_traits(self.admin, host, ['OWNER_NOVA'], generation=1)
            after = self.status(other)
        self.assertEqual(
            # Two reads, a trait, the generation and the commit; to ask for these figures.
            {'Com_commit': 1, 'Com_rollback': 0, 'Questions': 5 + 1},
            {name: after[name] - value for name, value in before.items()},
        )

    def ask(self, sql):
        """Run a statement as the administrator of the server, with the name of the database."""
        name = db_api.get_placement_engine().url.database
        with servers.shared(self.server).connect('root', '') as connection:
            with connection.cursor() as cursor:
                cursor.execute(sql, {'database': name})
                return [value for (value,) in cursor.fetchall()]

    def kill_all(self):
        """Kill the connections to the database. The pool does not get to know that."""
        for number in self.ask(f'SELECT id {PROCESSES}'):
            self.ask(f'KILL {number}')

    def test_connections_that_were_killed_while_they_rested(self):
        """They are replaced, and the requests that follow get what they ask for."""
        self.addCleanup(db_api.get_placement_engine().dispose)
        later = clock.Later()
        with runtime.install(later):
            host = self.add_host(self.id())
            self.kill_all()
            later.ahead_s = 60
            self.providers.set_traits(self.admin, host, ['OWNER_NOVA'], generation=1)
            self.assertEqual(({'OWNER_NOVA'}, 2), self.providers.traits(self.admin, host))
            consumer = base.consumer()
            self.kill_all()
            later.ahead_s = 120
            self.assertTrue(
                self.placement.claim(self.admin, consumer, base.request(host), new=True)
            )

    def test_a_connection_that_is_killed_within_a_request(self):
        """The request fails; none of its statements is left, and no transaction stays open."""
        host, killer = self.add_host(self.id()), self.useFixture(Killer('UPDATE resource_prov'))
        body = {'traits': ['OWNER_NOVA'], 'resource_provider_generation': 1}
        path = f'/resource_providers/{host}/traits'
        self.assertRaises(
            exception.Unavailable, self.placement.service.call, self.admin, 'PUT', path, json=body
        )
        self.assertEqual(1, killer.killed)
        self.assertEqual((set(), 1), self.providers.traits(self.admin, host))
        self.providers.set_traits(self.admin, host, ['OWNER_NOVA'], generation=1)
        self.assertEqual(({'OWNER_NOVA'}, 2), self.providers.traits(self.admin, host))

    def test_a_refused_request_leaves_no_transaction_open(self):
        host = self.add_host(self.id())
        body = {'traits': ['CUSTOM_UNKNOWN'], 'resource_provider_generation': 1}
        path = f'/resource_providers/{host}/traits'
        errors = {400: None}
        self.placement.service.call(self.admin, 'PUT', path, json=body, errors=errors)
        self.assertEqual([0], self.ask(f'SELECT count(trx_id) {PROCESSES}'))

    def status(self, connection):
        """Return how many messages of some kinds the server has got."""
        found = connection.exec_driver_sql(
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_rollback', 'Questions')"
        )
        return {name: int(value) for name, value in found}

    def test_no_locks_of_what_is_not_there(self):
        """Two claims of new consumers delete nothing first; none waits for the other then."""
        engine = db_api.get_placement_engine()
        with engine.connect() as one, engine.connect() as other:
            for connection in (one, other):
                connection.exec_driver_sql('SET SESSION innodb_lock_wait_timeout = 5')
                connection.commit()
                connection.exec_driver_sql("DELETE FROM allocations WHERE consumer_id = 'x'")
            for number, connection in enumerate((one, other)):
                connection.exec_driver_sql(
                    'INSERT INTO allocations'
                    ' (resource_provider_id, consumer_id, resource_class_id, used)'
                    f" VALUES (1, 'x{number}', 0, 1)"
                )


class PostgreSQLTest(PlacementOn, base.PlacementClientTestCase):
    """On PostgreSQL."""

    server = postgresql.PostgreSQL
    isolation_sql = 'SHOW transaction_isolation'
    other_isolation = {'options': '-c default_transaction_isolation=serializable'}
