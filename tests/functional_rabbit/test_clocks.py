"""Leases and heartbeats by the clocks of MariaDB and PostgreSQL."""

import datetime

import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.conductor import host_reports
from nova_lite.db.api import build_requests
from nova_lite.db.api import sagas
from nova_lite.db.cell import services
from nova_lite.saga import journal
from tests.fixtures import database
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import saga_rows
from tests.fixtures import servers
from tests.unit.db.api import test_leases

DAY = datetime.timedelta(days=1)
DOWN_S = 60


class Clocks:
    """The cases; a class for each kind of server follows."""

    server_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = servers.shared(cls.server_class)

    def setUp(self):
        super().setUp()
        self.useFixture(database.OnServer(self.server))

    def test_a_saga(self):
        api_db = self.useFixture(database.ApiDatabase())
        book, uuid = sagas.Journal(api_db.database), saga_rows.create(api_db.database)
        self.assertEqual([uuid], book.due(9))
        record = book.acquire(uuid, 'a', 300)
        book.renew({uuid: record.epoch}, 'a', 300)
        self.assertEqual([], book.due(9))
        self.assertIsNone(book.acquire(uuid, 'b', 300))
        note = journal.Note('waits', 'step')
        book.park(record, [note], position=0, wake_in_s=300, attempts=0, data={})
        self.assertEqual([], book.due(9))
        later = api_db.read(sagas.get, uuid).wake_at + DAY
        api_db.write(lambda c: c.execute(sagas.TABLE.update().values(wake_at=later)))
        self.assertEqual([uuid], book.due(9))
        self.assertEqual(0.0, api_db.read(sagas.lag_s))
        self.assertTrue(api_db.write(sagas.wake, uuid))
        self.assertIsNotNone(book.acquire(uuid, 'b', 300))

    def test_builds(self):
        api_db = self.useFixture(database.ApiDatabase())
        values = [
            {**test_leases.REQUEST, 'instance_uuid': runtime.new_uuid()} for _number in range(2)
        ]
        api_db.write(build_requests.create, values, 300)
        self.assertEqual({}, api_db.write(build_requests.take_over, 300))
        api_db.write(build_requests.expire, {each['instance_uuid']: 0 for each in values})
        taken = api_db.write(build_requests.take_over, 300)
        self.assertEqual([2], [len(batch) for batch in taken.values()])

    def test_intents(self):
        """Redeemed in time by who accepts the servers, or else taken over."""
        api_db = self.useFixture(database.ApiDatabase())
        values = [
            {**test_leases.REQUEST, 'instance_uuid': runtime.new_uuid()} for _number in range(3)
        ]
        uuids = [each['instance_uuid'] for each in values]
        api_db.write(build_requests.intend, values, lease_s=300)
        api_db.write(build_requests.renew_intents, uuids, lease_s=300)
        self.assertEqual([], api_db.write(build_requests.take_over_withdrawn, 300))

        def accept(connection):
            build_requests.redeem(connection, uuids[:1])
            build_requests.create(connection, values[:1], 300)

        api_db.write(accept)
        self.assertRaises(exception.Conflict, api_db.write, accept)
        api_db.write(build_requests.abandon, uuids[:2])
        api_db.write(build_requests.expire, {uuids[2]: 0})
        (taken,) = api_db.write(build_requests.take_over_withdrawn, 300)
        self.assertEqual(uuids[2], taken.instance_uuid)
        self.assertRaises(exception.Conflict, api_db.write, build_requests.redeem, uuids[1:])
        self.assertRaises(
            exception.Conflict, api_db.write, build_requests.renew_intents, uuids[2:], lease_s=300
        )
        api_db.write(build_requests.forget, uuids, 0)
        found = api_db.read(lambda c: c.execute(build_requests.TABLE.select()).all())
        self.assertEqual(
            {(uuids[0], 0, False), (uuids[1], 1, True), (uuids[2], 1, True)},
            {(row.instance_uuid, row.epoch, row.withdrawn) for row in found},
        )

    def test_withdrawn_builds(self):
        api_db = self.useFixture(database.ApiDatabase())
        uuid = runtime.new_uuid()
        api_db.write(build_requests.create, [{**test_leases.REQUEST, 'instance_uuid': uuid}], 300)
        withdrawn = api_db.write(build_requests.withdraw, uuid, 300)
        api_db.write(build_requests.forget_old, uuid, withdrawn.epoch, 60)
        (row,) = api_db.read(lambda c: c.execute(build_requests.TABLE.select()).all())
        earlier = row.withdrawn_at - datetime.timedelta(seconds=60)
        api_db.write(
            lambda c: c.execute(build_requests.TABLE.update().values(withdrawn_at=earlier))
        )
        api_db.write(build_requests.forget_old, uuid, withdrawn.epoch, 60)
        found = api_db.read(lambda c: c.execute(build_requests.TABLE.select()).all())
        self.assertEqual([], found)

    def test_heartbeats(self):
        cell = self.useFixture(database.CellDatabase())
        self.db = cell
        cell.write(services.beat, ['one', 'two'], services.COMPUTE, 'compute')
        cell.write(services.beat, ['one', 'two'], services.COMPUTE, 'compute')
        self.assertEqual(['one', 'two'], self.up())
        self.age('one', 100)
        self.assertEqual(['two'], self.up())
        report = host_reports.report, 'boss', services.CONDUCTOR, 'conductor', DOWN_S
        self.assertEqual(0, cell.write(*report))
        self.age('boss', 100, services.CONDUCTOR)
        self.age('two', 90)
        self.age('one', 200)
        self.assertEqual([], self.up())
        self.assertEqual(1, cell.write(*report))
        self.assertEqual(['two'], self.up())
        self.age('two', -3600)
        cell.write(*report)
        two = cell.read(services.find, 'two')
        self.assertGreaterEqual(two.read_at, two.last_seen_up)

    def up(self):
        found = self.db.read(services.every, binary=services.COMPUTE)
        return [row.host for row in found if services.is_up(row, DOWN_S)]

    def age(self, host, seconds, binary=services.COMPUTE):
        """Set back the time at which a service was last heard of."""
        row = self.db.read(services.find, host, binary)
        seen = row.read_at - datetime.timedelta(seconds=seconds)
        self.db.write(services.update, row.uuid, {'last_seen_up': seen})


class TestMariaDBClocks(Clocks, testtools.TestCase):
    server_class = mariadb.MariaDB


class TestPostgreSQLClocks(Clocks, testtools.TestCase):
    server_class = postgresql.PostgreSQL
