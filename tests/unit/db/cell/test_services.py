"""The status of services, up or down, by the clock of their cell's database."""

import testtools

from nova_lite import exception
from nova_lite.db.cell import services
from tests.fixtures import clock
from tests.fixtures import database

DOWN_S = 60
HOUR = 3600


class SleepingRuntime(clock.SkewedRuntime):
    """A process on a machine that sleeps. slept_s: what the monotonic clock did not count"""

    slept_s = 0

    def monotonic(self):
        return self.current.timestamp() - self.slept_s

    def sleep_through(self, seconds):
        self.advance(seconds)
        self.slept_s += seconds


class TestIsUp(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.Installed(SleepingRuntime())).runtime
        self.db = self.useFixture(database.CellDatabase())
        self.beat('host-1', 'host-2')
        self.assertTrue(self.is_up())

    def beat(self, *hosts, binary=services.COMPUTE):
        self.db.write(services.beat, list(hosts), binary, 'compute')

    def is_up(self, host='host-1', binary=services.COMPUTE):
        return services.is_up(self.db.read(services.find, host, binary), DOWN_S)

    def test_silent(self):
        self.clock.advance(DOWN_S)
        self.assertTrue(self.is_up())
        self.clock.advance(1)
        self.assertFalse(self.is_up())
        self.beat('host-1')
        self.assertTrue(self.is_up())

    def test_a_process_whose_clock_is_wrong(self):
        for skew_s in (HOUR, -HOUR):
            self.clock.skew_s = skew_s
            self.clock.advance(DOWN_S - 10)
            self.assertTrue(self.is_up())
            self.beat('host-1')
            self.clock.advance(DOWN_S - 10)
            self.assertTrue(self.is_up())
            # The leap is forgotten by then.
            self.clock.advance(HOUR)
            self.assertFalse(self.is_up())
            self.beat('host-1')

    def test_a_machine_that_slept(self):
        """No report could be recorded: services still silent a little later are down."""
        self.clock.advance(DOWN_S / 2)
        self.clock.sleep_through(HOUR)
        self.assertTrue(self.is_up())
        self.clock.advance(DOWN_S / 2 - 1)
        self.assertTrue(self.is_up())
        self.beat('host-2')
        self.clock.advance(5)
        self.assertFalse(self.is_up())
        self.assertTrue(self.is_up('host-2'))

    def test_down_before_the_machine_slept(self):
        self.clock.advance(DOWN_S + 1)
        self.clock.sleep_through(HOUR)
        self.assertFalse(self.is_up())

    def test_a_database_that_is_set_back(self):
        """A service without reports is down at its time, and not an hour later."""
        self.clock.advance(-HOUR)
        self.assertTrue(self.is_up())
        self.beat('conductor', binary=services.CONDUCTOR)
        self.clock.advance(DOWN_S + 1)
        self.beat('host-2')
        self.assertFalse(self.is_up())
        self.assertTrue(self.is_up('host-2'))

    def test_forced_down(self):
        row = self.db.read(services.find, 'host-1')
        self.db.write(services.update, row.uuid, {'forced_down': True})
        self.assertFalse(self.is_up())
        self.db.read(services.require_down, 'host-1', DOWN_S)

    def test_one_that_cannot_be_heard(self):
        """No conductor of the cell is heard either, so it may be well."""
        self.beat('conductor', binary=services.CONDUCTOR)
        self.clock.advance(DOWN_S * 10)
        error = self.assertRaises(
            services.ServiceMayBeUp, self.db.read, services.require_down, 'host-1', DOWN_S
        )
        self.assertIn('Force the host down', str(error))
        row = self.db.read(services.find, 'host-1')
        self.assertRaises(services.HostUnheard, services.require_up, row, DOWN_S)
        self.db.write(services.update, row.uuid, {'forced_down': True})
        row = self.db.read(services.find, 'host-1')
        self.db.read(services.require_down, 'host-1', DOWN_S)
        self.assertRaises(exception.ServiceIsDown, services.require_up, row, DOWN_S)

    def test_one_that_must_be_down(self):
        checks = (self.db.read, services.require_down), (self.db.write, services.keep_down)
        for run, check in checks:
            error = self.assertRaises(services.ServiceIsUp, run, check, 'host-1', DOWN_S)
            self.assertIn('host-1', str(error))
        self.clock.advance(DOWN_S + 1)
        for run, check in checks:
            run(check, 'host-1', DOWN_S)
            run(check, 'host-9', DOWN_S)


class TestBrief(testtools.TestCase):
    """Only services that need a look have times: to convert these would be most of the work."""

    def setUp(self):
        super().setUp()
        self.db = self.useFixture(database.CellDatabase())
        self.db.write(services.beat, list('abc'), services.COMPUTE, 'compute')

    def with_times(self, down_time_s=DOWN_S):
        found = self.db.read(services.brief, down_time_s)
        self.assertEqual(set('abc'), {row.host for row in found})
        return {row.host: row for row in found if row.read_at is not None}

    def change(self, host, **values):
        self.db.write(services.update, self.db.read(services.find, host).uuid, values)

    def test_none_of_them(self):
        self.assertEqual({}, self.with_times())

    def test_disabled_or_forced_down(self):
        self.change('a', disabled=True)
        self.change('b', forced_down=True)
        self.assertEqual({'a', 'b'}, self.with_times().keys())

    def test_never_seen(self):
        self.change('c', last_seen_up=None)
        self.assertEqual({'c'}, self.with_times().keys())

    def test_what_has_times_is_as_in_the_whole_row(self):
        self.db.write(services.beat, ['boss'], services.CONDUCTOR, 'conductor')
        for host, row in self.with_times(-1).items():
            whole = self.db.read(services.find, host)
            for name in ('last_seen_up', 'created_at', 'conductor_seen', 'disabled', 'version'):
                self.assertEqual(getattr(whole, name), getattr(row, name), name)
            self.assertFalse(services.is_up(row, -1))
