"""A move that finds only hosts that do not report waits before it gives up."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import services
from nova_lite.moves import live_migrate
from nova_lite.moves.parts import live_checks
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


# They need the facts of the hosts.
CHECKS = (live_checks.CHECK_DEST, live_checks.CHECK_SOURCE)


AFTER_CHECKS = (
    live_migrate.PREPARE,
    live_migrate.COPY,
    live_migrate.START,
    live_migrate.CLEAN,
)


class SilentCase(testscenarios.WithScenarios, moves_base.MoveTestCase):
    """A live migration before a step whose host was not heard for a while. step: its id"""

    def setUp(self):
        self.clock = clock.ManualClock()
        super().setUp()
        self.useFixture(self.clock)
        self.beat()
        self.made = self.live_migration()
        self.made.results.keep(live_checks.CHECK_DEST, {'facts': {}, 'block_migration': False})
        self.made.results.keep(live_checks.CHECK_SOURCE, {'max_concurrent': 1})
        before = moves_base.until(self.made, self.step)
        self.do(self.made, [step for step in before if step.id not in CHECKS])
        (self.asked,) = moves_base.since(self.made, self.step)[:1]
        self.clock.advance(100)

    def beat(self):
        self.cell.db.write(services.beat, self.cell.hosts, services.COMPUTE, 'compute')
        self.hear()

    def hear(self):
        """The cell receives heartbeats, none of them from its hosts."""
        self.cell.db.write(services.beat, ['conductor'], services.CONDUCTOR, 'conductor')

    def evacuate(self):
        self.cell.db.write(live_migrations.note_evacuation, self.made.uuid)


class TestEvacuatedWhileItMigrates(SilentCase):
    """A live migration waits for a host that is down, until an evacuation is requested."""

    scenarios = [(step, {'step': step}) for step in (live_checks.CHECK_SOURCE, *AFTER_CHECKS)]

    def test_without_an_evacuation(self):
        self.hear()
        self.assertRaises(exception.Unavailable, self.asked.do)

    def test_evacuated(self):
        self.hear()
        self.evacuate()
        self.assertRaises(exception.ServiceIsDown, self.asked.do)
        if self.asked.undo is not None and self.step in (live_migrate.PREPARE, live_migrate.COPY):
            self.assertRaises(exception.ServiceIsDown, self.asked.undo)

    def test_the_hosts_may_be_well(self):
        """Their cell receives no heartbeats at all."""
        self.evacuate()
        self.assertRaises(exception.Unavailable, self.asked.do)


class TestBackWhileItMigrates(SilentCase):
    """A live migration goes on with hosts that are back, also if an evacuation was requested."""

    scenarios = [(step, {'step': step}) for step in AFTER_CHECKS]

    def test_the_hosts_are_back(self):
        self.beat()
        self.evacuate()
        self.asked.do()
