"""The placement application on MariaDB and PostgreSQL, with requests side by side."""

import fixtures
from placement import exception as placement_exception
from placement.objects import allocation
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.daemons.wsgi import placement
from tests.fixtures import http
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.clients import base

# More than the connections that SQLAlchemy pools unless told otherwise.
THREADS = 16


class PlacementOn:
    """Claims, moves and queries at the same time, without one refused or failed.

    turns: how often each thread claims and moves; tests/nightly has more
    """

    turns = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        url = servers.shared(cls.server).create_database(f'placement_{runtime.new_uuid()}')
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


class MariaDBTest(PlacementOn, base.PlacementClientTestCase):
    """On MariaDB."""

    server = mariadb.MariaDB


class PostgreSQLTest(PlacementOn, base.PlacementClientTestCase):
    """On PostgreSQL."""

    server = postgresql.PostgreSQL
