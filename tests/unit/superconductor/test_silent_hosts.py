"""Builds that find no host, but some that may be used again soon, wait before they end in ERROR."""

from nova_lite import exception
from nova_lite.db.api import build_requests
from nova_lite.db.cell import services
from tests.fixtures import clock
from tests.unit.superconductor import build_base

WAITS = ([], None, True)
BURIED = (['cell0'], 'cell0', False)


class SilentHostsTest(build_base.BuildTestCase):
    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()
        self.interval_s = self.cells.conf.report_interval
        self.outage_s = services.OUTAGE * self.cells.conf.service_down_time

    def silent(self, silent):
        """The scheduler finds only such hosts."""
        self.scheduler.error = exception.NoValidHost(reason='silence', silent=silent)

    def after(self, seconds):
        """Return where the server is after an attempt at that time."""
        self.clock.advance(seconds)
        self.take_over().run()
        return self.where()

    def test_a_wait_for_hosts_is_no_failure(self):
        """Nor do failures before it, or waits for another reason, shorten it."""
        failed = self.api_db.write(build_requests.count_failure, {self.uuid: 0})
        self.assertEqual({self.uuid: 1}, failed)
        for silent in (services.UNHEARD, services.UNREACHABLE, services.SILENT):
            self.silent(silent)
            self.assertEqual(WAITS, self.after(self.interval_s + 1), silent)
            self.assertEqual(1, self.api_db.read(build_requests.find, self.uuid).failures)
        self.assertEqual(BURIED, self.after(self.interval_s + 1))

    def test_who_has_lost_a_build_waits_for_no_host(self):
        """Its successor decides."""
        self.silent(services.SILENT)
        former = self.attempt()
        self.scheduler.before = lambda: self.api_db.write(build_requests.take_over, 60)
        self.api_db.write(build_requests.expire, self.epochs())
        former.run()
        self.assertEqual(WAITS, self.where())
        self.scheduler.before = lambda: None
        for expected in (WAITS, BURIED):
            self.assertEqual(expected, self.after(self.interval_s + 1))

    def test_silent_hosts_are_awaited_for_one_interval(self):
        self.silent(services.SILENT)
        self.attempt().run()
        self.assertEqual(WAITS, self.where())
        # Not before they could have reported.
        self.clock.advance(self.interval_s)
        self.assertEqual({}, self.api_db.write(build_requests.take_over, 60))
        self.assertEqual(BURIED, self.after(1))

    def test_hosts_that_cannot_be_heard_are_awaited(self):
        self.silent(services.UNHEARD)
        for _attempt in range(10):
            self.assertEqual(WAITS, self.after(60))
        self.scheduler.error = None
        self.assertEqual((['cell1'], 'cell1', False), self.after(0))

    def test_cells_that_do_not_answer_are_awaited_for_some_minutes(self):
        self.silent(services.UNREACHABLE)
        for seconds in (0, 60, self.outage_s - 60):
            self.assertEqual(WAITS, self.after(seconds))
        self.assertEqual(BURIED, self.after(1))
