"""One engine, few threads, a host that hangs: everybody else's sagas go on."""

import collections

import testtools

from nova_lite import context
from nova_lite import runtime
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.saga import engine
from nova_lite.saga import queue
from tests.fixtures import database
from tests.fixtures import saga_rows

WAIT_S = 60
THREADS = 4


class Visit(saga.Saga):
    """Choose a host, then ask it something. world: hosts that hang, and what was asked"""

    kind = 'visit'

    def steps(self):
        return (saga.Step('choose', self.choose), saga.Step('ask', self.ask))

    def choose(self):
        return {'host': self.arguments['host']}

    def ask(self):
        self.world.ask(self.arguments['host'])
        wait = self.world.hanging.get(self.arguments['host'])
        if wait is not None and not wait.wait(WAIT_S):
            raise AssertionError('it was not released')


class World:
    """hanging: {host: Event that lets it go}"""

    def __init__(self, *hanging):
        self.hanging = {host: runtime.Event() for host in hanging}
        self._asked = collections.Counter()
        self._lock = runtime.Condition()

    def ask(self, host):
        with self._lock:
            self._asked[host] += 1
            self._lock.notify_all()

    def was_asked(self, host, times):
        """Return whether a host is asked so often, in time."""
        with self._lock:
            return self._lock.wait_for(lambda: self._asked[host] >= times, WAIT_S)

    def asked(self, host):
        with self._lock:
            return self._asked[host]


class Counting(sagas.Journal):
    """Counts who is acquired how often."""

    def __init__(self, database):
        super().__init__(database)
        self.acquired = collections.Counter()

    def acquire(self, uuid, owner, lease_s, **options):
        self.acquired[uuid] += 1
        return super().acquire(uuid, owner, lease_s, **options)


def lanes(arguments, data):
    found = [queue.Lane(queue.CELL, arguments['cell'])]
    if 'choose' in data:
        found.append(queue.Lane(queue.HOST, data['choose']['host']))
    return found


class FairnessTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.database = self.useFixture(database.ApiDatabase(threads=16)).database
        self.journal = Counting(self.database)
        self.world = World('hung')
        self.engine = engine.Engine(
            self.journal, self.make_saga, owner='one', threads=THREADS, lanes=lanes
        )
        self.engine.start()
        self.addCleanup(self.engine.stop)
        # First of all: what hangs would keep the engine from stopping.
        self.addCleanup(self.release)

    def make_saga(self, record):
        ctxt = context.RequestContext.from_wire(record.context)
        return Visit(self.world, record, ctxt)

    def release(self):
        for event in self.world.hanging.values():
            event.set()

    def visit(self, cell, host):
        place = {'cell': cell, 'host': host}
        uuid = saga_rows.create(self.database, kind='visit', arguments=place)
        self.engine.submit(uuid)
        return uuid

    def assert_asked(self, host, times=1):
        self.assertTrue(self.world.was_asked(host, times), f'{host} was not asked')

    def test_a_hung_host_leaves_threads_for_its_cell_and_for_others(self):
        stuck = [self.visit('one', 'hung') for _ in range(3 * THREADS)]
        self.assert_asked('hung')
        self.visit('two', 'other')
        self.assert_asked('other')
        self.visit('one', 'neighbour')
        self.assert_asked('neighbour')
        self.assertEqual(1, self.world.asked('hung'), 'more than its share at one host')
        self.release()
        self.assert_asked('hung', len(stuck))

    def test_who_waits_is_queued_once(self):
        """Neither sweeps nor casts make a queue longer: each costs a transaction later."""
        stuck = [self.visit('one', 'hung') for _ in range(3 * THREADS)]
        self.assert_asked('hung')
        for _turn in range(20):
            self.engine.sweep()
            self.engine.submit(stuck[-1])
        self.release()
        self.assert_asked('hung', len(stuck))
        self.engine.stop()
        # Once, and once more where it had to wait for the host that it found.
        self.assertLessEqual(max(self.journal.acquired.values()), 2)
        self.assertEqual(set(stuck), set(self.journal.acquired))
