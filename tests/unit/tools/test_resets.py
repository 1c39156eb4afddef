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

    def found(self, **threads):
        """Return the leaks in 100 resets. threads: after so many resets, such as after_25"""
        held = {
            int(name.removeprefix('after_')): resets.Held(number, 80, 100)
            for name, number in threads.items()
        }
        return resets.leaks(held, 100)

    def test_growth_that_ends(self):
        """Pools of threads and connections grow with the load."""
        self.assertEqual([], self.found(after_25=166, after_50=202, after_75=203, after_100=193))

    def test_growth_that_goes_on(self):
        found = self.found(after_25=166, after_50=202, after_75=215, after_100=228)
        self.assertEqual(['threads'], found)

    def test_one_reset(self):
        self.assertEqual([], resets.leaks({1: resets.Held(50, 80, 100)}, 1))
