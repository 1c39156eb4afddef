"""Resources of a process after many resets are compared with those before."""

import testtools

from tools import resets


class HeldTest(testtools.TestCase):
    def test_growth(self):
        before = resets.Held(threads=50, files=80, memory_mb=100)
        for held, number, expected in (
            (resets.Held(50, 80, 110), 75, []),
            (resets.Held(70, 100, 50), 75, []),
            (resets.Held(71, 80, 100), 75, ['threads']),
            (resets.Held(87, 80, 100), 750, []),
            (resets.Held(50, 118, 111), 750, ['files', 'memory_mb']),
        ):
            self.assertEqual(expected, held.exceeds(before, number))

    def test_pools_that_grow_and_shrink_under_load_are_no_leak(self):
        """Looks under load differ by more than that; those at rest do not."""
        middle, last = resets.Held(58, 146, 175), resets.Held(59, 121, 176)
        self.assertEqual([], last.exceeds(middle, 50))
        leaking = resets.Held(58 + 25, 146, 175)
        self.assertEqual(['threads'], leaking.exceeds(middle, 50))
