"""Polls of the copy of a live migration."""

from nova_lite.virt import model
from tests.unit.virt.sim import test_moves

ENDLESS = (test_moves.COPY % '').replace('dirty_rate_mb_s: 64', 'dirty_rate_mb_s: 512')


class CopyPollsTest(test_moves.LiveMoveTestCase):
    def test_a_long_copy_is_polled_less_often(self):
        copy, waits = self.begin(ENDLESS), []
        for _poll in range(7):
            waits.append(copy.ready_in)
            self.clock.advance(copy.ready_in)
            copy = self.look()
        self.assertEqual([1.0, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0], waits)

    def test_the_end_of_a_copy_is_not_polled_late(self):
        copy, waited = self.begin(), 0
        while copy.state is model.JobState.RUNNING:
            waited += copy.ready_in
            self.clock.advance(copy.ready_in)
            copy = self.look()
        self.assertEqual(10.625, waited)
