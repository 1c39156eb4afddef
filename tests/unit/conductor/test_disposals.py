"""Build requests that their users took back, and claims that come for them afterwards."""

import datetime

from nova_lite import context
from nova_lite import disposal
from nova_lite.conductor import disposals
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import models
from nova_lite.rpc import interface
from tests.fixtures import neighbours
from tests.unit.conductor import build_base

TABLE = models.BuildRequest.__table__


class WithdrawnTest(build_base.BuildTestCase):
    def setUp(self):
        super().setUp()
        self.world.volume = neighbours.Volume()
        self.disposals = disposals.Disposals(self.world)
        self.withdrawn = self.api_db.write(build_requests.withdraw, self.uuid, 60)
        self.api_db.write(instance_mappings.destroy, self.uuid)

    def row(self):
        return self.api_db.read(lambda connection: connection.execute(TABLE.select()).first())

    def lapse(self):
        self.api_db.write(build_requests.expire, {self.uuid: self.row().epoch})

    def age(self, seconds):
        """The request was accepted that long ago."""
        values = {'created_at': self.row().created_at - datetime.timedelta(seconds=seconds)}
        self.api_db.write(lambda connection: connection.execute(TABLE.update().values(values)))

    def test_a_claim_that_comes_late_is_released(self):
        disposal.withdraw(self.world, context.admin(), self.withdrawn)
        self.placement.freed.clear()
        self.disposals.run()
        self.assertEqual([], self.placement.freed)
        self.lapse()
        self.disposals.run()
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertIsNotNone(self.row())

    def test_forgotten_when_no_scheduler_can_claim_any_more(self):
        self.age(interface.LONG)
        self.lapse()
        self.disposals.run()
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertIsNone(self.row())

    def test_kept_while_a_cell_is_away(self):
        self.age(interface.LONG)
        self.lapse()
        self.away('cell2')
        self.disposals.run()
        self.assertIsNotNone(self.row())

    def test_a_lasting_refusal_is_met_ever_more_seldom(self):
        pauses = []
        for _ in range(8):
            self.lapse()
            before = self.row().lease_until
            (taken,) = self.api_db.write(build_requests.take_over_withdrawn, 60)
            pauses.append(round((taken.lease_until - before).total_seconds(), -1))
        self.assertEqual([120, 240, 480, 960, 1920, 3600, 3600, 3600], pauses)
