"""The placement application on MariaDB and PostgreSQL, with requests side by side."""

from nova_lite import runtime
from nova_lite.wsgi import placement
from tests.fixtures import http
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.unit.clients import base

THREADS = 8
TURNS = 5


class _PlacementOn:
    """Claims, moves and queries at the same time, without one refused or failed."""

    def setUp(self):
        super().setUp()
        url = self.useFixture(self.server()).create_database('placement')
        application = placement.make_app(url, auth_strategy='noauth')
        self.http = self.useFixture(http.Http({'/placement': application}, threads=THREADS))
        self.connect(self.http.url + '/placement')

    def test_side_by_side(self):
        host = self.add_host('host', vcpus=THREADS * TURNS, ram_mb=512 * THREADS * TURNS)
        done = []

        def work():
            for _ in range(TURNS):
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
        self.assertEqual([True] * 4 * THREADS * TURNS, [bool(one) for one in done])
        self.assertEqual({}, self.providers.allocations(self.admin, host))


class MariaDBTest(_PlacementOn, base.PlacementClientTestCase):
    """On MariaDB."""

    server = mariadb.MariaDB


class PostgreSQLTest(_PlacementOn, base.PlacementClientTestCase):
    """On PostgreSQL."""

    server = postgresql.PostgreSQL
