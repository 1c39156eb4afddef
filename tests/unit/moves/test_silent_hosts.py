"""A move that finds only hosts that do not report waits before it gives up."""

from nova_lite import exception
from nova_lite.db.cell import services
from tests.fixtures import clock
from tests.unit.moves import moves_base


class TestSilentHosts(moves_base.MoveTestCase):
    def setUp(self):
        self.clock = clock.ManualClock()
        super().setUp()
        self.useFixture(self.clock)
        self.made = self.resize()
        self.do(self.made, self.made.steps()[:1])
        self.world.scheduler.select_destinations = self.refuse

    def refuse(self, *_args, **_options):
        raise exception.NoValidHost(reason='silence', silent=self.silent)

    def look(self, silent):
        """Return how long a look at a host lets the move wait: None, or whether without end."""
        self.silent = silent
        error = self.assertRaises(exception.NovaLiteError, self.made.choice.choose)
        if isinstance(error, services.HostsSilent):
            self.assertTrue(error.transient)
            return 'outage' if error.outage else 'interval'
        self.assertIsInstance(error, exception.NoValidHost)
        return None

    def test_while_their_cell_hears_nothing(self):
        for _look in range(10):
            self.assertEqual('outage', self.look(services.UNHEARD))
            self.clock.advance(60)

    def test_while_their_cell_does_not_answer(self):
        """For some minutes."""
        for _look in range(4):
            self.assertEqual('outage', self.look(services.UNREACHABLE))
            self.clock.advance(services.OUTAGE * self.cell.conf.service_down_time / 3)
        self.assertIsNone(self.look(services.UNREACHABLE))

    def test_for_one_interval(self):
        interval_s = self.cell.conf.report_interval
        for _look in range(2):
            self.assertEqual('interval', self.look(services.SILENT))
            self.clock.advance(interval_s / 2 + 1)
        self.assertIsNone(self.look(services.SILENT))

    def test_for_one_interval_since_their_cell_hears_them(self):
        self.assertEqual('outage', self.look(services.UNHEARD))
        self.clock.advance(100)
        self.test_for_one_interval()

    def test_others(self):
        self.assertIsNone(self.look(None))
