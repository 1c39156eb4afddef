"""Build requests that their users took back, and claims that come for them afterwards."""

from nova_lite import context
from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models
from nova_lite.lifecycle import disposal
from nova_lite.rpc import interface
from nova_lite.superconductor.audits import disposals
from tests.fixtures import clock
from tests.fixtures import neighbours
from tests.unit.superconductor import build_base

TABLE = models.BuildRequest.__table__
STEP = 600
DAY = 24 * 3600


class WithdrawnTest(build_base.BuildTestCase):
    def setUp(self):
        self.clock = self.useFixture(clock.Installed(clock.SkewedRuntime())).runtime
        super().setUp()
        # The build waits for longer than a call to the scheduler may take.
        self.clock.advance(2 * interface.LONG)
        self.world.volume = neighbours.Volume()
        self.disposals = disposals.Disposals(self.world)
        self.withdrawn = self.api_db.write(build_requests.withdraw, self.uuid, 60)
        self.api_db.write(instance_mappings.destroy, self.uuid)

    def row(self):
        return self.api_db.read(lambda connection: connection.execute(TABLE.select()).first())

    def lapse(self):
        self.api_db.write(build_requests.expire, {self.uuid: self.row().epoch})
        self.clock.advance(1)

    def sweep_until_forgotten(self):
        """Run the periodic for a day. Returns the seconds until the row is gone, or None."""
        for elapsed in range(0, DAY, STEP):
            self.disposals.run()
            if self.row() is None:
                return elapsed
            self.clock.advance(STEP)
        return None

    def test_a_claim_that_comes_late_is_released(self):
        disposal.withdraw(self.world, context.admin(), self.withdrawn)
        self.placement.freed.clear()
        self.disposals.run()
        self.assertEqual([], self.placement.freed)
        self.lapse()
        self.disposals.run()
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertIsNotNone(self.row())

    def test_an_old_build_is_kept_while_a_scheduler_can_claim(self):
        """A scheduler may take the message at the end of the call's timeout."""
        elapsed = self.sweep_until_forgotten()
        self.assertIsNotNone(elapsed)
        self.assertGreater(elapsed, interface.LONG)
        self.assertEqual(self.uuid, self.placement.freed[-1])

    def test_a_clock_that_is_ahead_does_not_shorten_that(self):
        self.clock.skew_s = DAY
        self.assertGreater(self.sweep_until_forgotten(), interface.LONG)

    def test_a_clock_that_is_behind_does_not_lengthen_that(self):
        self.clock.skew_s = -2 * DAY
        self.assertIsNotNone(self.sweep_until_forgotten())

    def test_kept_while_a_cell_is_away(self):
        self.away('cell2')
        for _ in range(3):
            self.clock.advance(DAY)
            self.disposals.run()
        self.assertIsNotNone(self.row())

    def test_a_lasting_refusal_is_met_ever_more_seldom(self):
        pauses = []
        for _ in range(8):
            self.lapse()
            before = runtime.database_now()
            (taken,) = self.api_db.write(build_requests.take_over_withdrawn, 60)
            pauses.append((taken.lease_until - before).total_seconds())
        self.assertEqual([120, 240, 480, 960, 1920, 3600, 3600, 3600], pauses)
