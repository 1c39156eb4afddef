"""Leases and wake-ups: compared by the clock of the database, whatever a process's says."""

import testtools

from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import sagas
from nova_lite.saga import journal
from nova_lite.saga import retries
from tests.fixtures import clock
from tests.fixtures import database
from tests.fixtures import saga_rows

REQUEST = {
    'project_id': 'alpha',
    'reservation_id': 'r-1',
    'request_id': 'req-1',
    'instance': {},
    'block_devices': [],
    'tags': [],
    'arguments': {},
}
HOUR = 3600


class Base(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(clock.SkewedRuntime())).runtime
        self.db = self.useFixture(database.ApiDatabase())


class TestSagas(Base):
    def setUp(self):
        super().setUp()
        self.journal = sagas.Journal(self.db.database)
        self.uuid = saga_rows.create(self.db.database, wake_in_s=5)

    def acquire(self, owner='a', lease_s=15):
        return self.journal.acquire(self.uuid, owner, lease_s)

    def park(self, record, wake_in_s):
        self.journal.park(
            record,
            [journal.Note('waits', 'step')],
            position=0,
            wake_in_s=wake_in_s,
            attempts=0,
            data={},
        )

    def test_what_is_acquired_is_what_is_stored(self):
        names = list(journal.Record.__annotations__)

        def values(record):
            return {name: getattr(record, name) for name in names}

        for epoch in (1, 2):
            record = self.acquire()
            self.assertEqual(values(self.journal.find(self.uuid)), values(record))
            self.assertEqual((epoch, 'a', 'running'), (record.epoch, record.owner, record.state))
            self.park(record, 0)
        record = self.acquire()
        self.journal.clean_later(record, wake_in_s=0, attempts=0, data={'left': 1})
        record = self.acquire('b')
        self.assertEqual(values(self.journal.find(self.uuid)), values(record))
        self.assertEqual(({'left': 1}, 'cleaning'), (record.data, record.state))

    def test_due_after_its_wait(self):
        self.assertEqual([], self.journal.due(9))
        self.clock.advance(5)
        self.assertEqual([self.uuid], self.journal.due(9))
        self.assertEqual(0.0, self.db.read(sagas.lag_s))
        self.clock.advance(1.5)
        self.assertEqual(1.5, self.db.read(sagas.lag_s))

    def test_a_process_that_is_ahead_steals_nothing(self):
        self.acquire()
        self.clock.skew_s = HOUR
        self.clock.advance(6)
        self.assertEqual([], self.journal.due(9))
        self.assertIsNone(self.acquire('b'))
        self.clock.advance(15)
        self.assertEqual([self.uuid], self.journal.due(9))
        self.assertEqual('b', self.acquire('b').owner)

    def test_a_process_that_is_set_back_goes_on(self):
        record = self.acquire()
        self.park(record, 2)
        self.clock.skew_s = -HOUR
        self.clock.advance(2)
        self.assertEqual([self.uuid], self.journal.due(9))
        self.assertIsNotNone(self.acquire())

    def test_a_renewed_lease(self):
        record = self.acquire()
        self.clock.skew_s = -HOUR
        self.clock.advance(10)
        self.journal.renew({self.uuid: record.epoch}, 'a', 15)
        self.clock.advance(10)
        self.assertIsNone(self.acquire('b'))
        self.clock.advance(6)
        self.assertIsNotNone(self.acquire('b'))

    def test_a_database_that_is_set_back(self):
        """A row that would wait or be held for longer than the maximum is due."""
        self.park(self.acquire(), 30)
        self.clock.advance(-HOUR)
        self.assertEqual([self.uuid], self.journal.due(9))
        self.assertEqual(0.0, self.db.read(sagas.lag_s))
        self.assertIsNotNone(self.acquire())
        self.clock.advance(-HOUR)
        self.assertIsNotNone(self.acquire('b'))

    def test_a_wait_has_a_bound(self):
        self.park(self.acquire(), 10 * HOUR)
        self.clock.advance(retries.LONGEST_WAIT_S - 1)
        self.assertEqual([], self.journal.due(9))
        self.clock.advance(1)
        self.assertEqual([self.uuid], self.journal.due(9))

    def test_a_wake_up(self):
        self.park(self.acquire(), 30)
        self.clock.skew_s = HOUR
        self.assertTrue(self.db.write(sagas.wake, self.uuid))
        self.assertEqual([self.uuid], self.journal.due(9))


class TestBuildRequests(Base):
    def create(self, lease_s):
        values = [{**REQUEST, 'instance_uuid': runtime.new_uuid()} for _ in range(2)]
        self.db.write(build_requests.create, values, lease_s)
        return {each['instance_uuid'] for each in values}

    def taken(self, lease_s=60):
        found = self.db.write(build_requests.take_over, lease_s)
        return {row.instance_uuid for rows in found.values() for row in rows}

    def test_taken_over_after_the_lease(self):
        uuids = self.create(60)
        self.clock.skew_s = HOUR
        self.clock.advance(59)
        self.assertEqual(set(), self.taken())
        self.clock.skew_s = -HOUR
        self.clock.advance(1)
        self.assertEqual(uuids, self.taken())
        self.assertEqual(set(), self.taken())

    def test_a_database_that_is_set_back(self):
        uuids = self.create(60)
        self.clock.advance(-HOUR)
        self.assertEqual(uuids, self.taken())

    def test_withdrawn_ones(self):
        uuid, _other = sorted(self.create(60))
        self.db.write(build_requests.withdraw, uuid, 30)
        self.clock.skew_s = HOUR
        self.assertEqual([], self.db.write(build_requests.take_over_withdrawn, 30))
        self.clock.advance(31)
        found = self.db.write(build_requests.take_over_withdrawn, 30)
        self.assertEqual([uuid], [row.instance_uuid for row in found])

    def test_forgotten_by_age(self):
        uuid, _other = sorted(self.create(60))
        self.clock.advance(HOUR)
        epoch = self.db.write(build_requests.withdraw, uuid, 30).epoch
        self.clock.advance(59)
        self.clock.skew_s = HOUR
        self.db.write(build_requests.forget_old, uuid, epoch, 60)
        self.assertEqual(2, self.count())
        self.clock.skew_s = -HOUR
        self.clock.advance(1)
        self.db.write(build_requests.forget_old, uuid, epoch + 1, 60)
        self.assertEqual(2, self.count())
        self.db.write(build_requests.forget_old, uuid, epoch, 60)
        self.assertEqual(1, self.count())

    def test_the_age_of_a_renewed_intent(self):
        uuid = runtime.new_uuid()
        values = [{**REQUEST, 'instance_uuid': uuid}]
        self.db.write(build_requests.intend, values, lease_s=30)
        self.clock.advance(20)
        self.db.write(build_requests.renew_intents, [uuid], lease_s=30)
        self.clock.advance(40)
        self.db.write(build_requests.forget_old, uuid, 0, 60)
        self.assertEqual(1, self.count())
        self.clock.advance(20)
        self.db.write(build_requests.forget_old, uuid, 0, 60)
        self.assertEqual(0, self.count())

    def count(self):
        return len(self.db.read(lambda c: c.execute(build_requests.TABLE.select()).all()))
