"""The clock of an embedded cloud: what it shows, and whom it wakes."""

import testtools

from nova_lite import runtime
from nova_lite.lab.testclock import clock
from tests.fixtures import clock as clocks

DAY_S = 86400


class ClockTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clocks.Installed(clock.Clock())).runtime
        self.system = runtime.Runtime()

    def shown(self):
        return runtime.timestamp(), runtime.monotonic(), runtime.boottime()

    def waiting(self, function):
        """Call a function in a thread; return (thread, list of its result)."""
        results = []
        thread = runtime.spawn(lambda: results.append(function()))
        while not self.clock.waits:
            self.system.sleep(0.001)
        return thread, results

    def test_all_clocks_jump_together(self):
        before = self.shown()
        self.clock.jump(DAY_S)
        for earlier, later in zip(before, self.shown(), strict=True):
            self.assertLess(DAY_S, later - earlier)
            self.assertGreater(DAY_S + 60, later - earlier)

    def test_frozen(self):
        self.clock.freeze()
        self.clock.freeze()
        frozen = self.shown()
        self.system.sleep(0.01)
        self.assertEqual(frozen, self.shown())
        self.clock.jump(1)
        moved = zip(frozen, self.shown(), strict=True)
        self.assertEqual([1, 1, 1], [round(later - earlier, 3) for earlier, later in moved])
        self.clock.resume()
        self.clock.resume()
        self.assertGreater(runtime.monotonic(), frozen[1] + 1)
        self.assertLess(runtime.monotonic(), frozen[1] + 60)

    def test_jump_ends_a_sleep(self):
        self.clock.freeze()
        thread, results = self.waiting(lambda: runtime.sleep(DAY_S))
        self.clock.jump(DAY_S - 1)
        self.assertTrue(thread.is_alive())
        self.clock.jump(1)
        thread.join(60)
        self.assertEqual([None], results)
        self.assertEqual(0, self.clock.waits)

    def test_resume_ends_a_wait(self):
        self.clock.freeze()
        thread, results = self.waiting(lambda: runtime.Event().wait(0.01))
        self.clock.resume()
        thread.join(60)
        self.assertEqual([False], results)

    def test_an_event_is_noticed_while_frozen(self):
        self.clock.freeze()
        event = runtime.Event()
        thread, results = self.waiting(lambda: runtime.wait(event, 5))
        event.set()
        thread.join(60)
        self.assertEqual([True], results)

    def test_freeze_holds_a_wait_that_has_begun(self):
        event = runtime.Event()
        thread, results = self.waiting(lambda: event.wait(0.3))
        self.clock.freeze()
        thread.join(0.4)
        self.assertTrue(thread.is_alive())
        self.clock.jump(1)
        thread.join(60)
        self.assertEqual([False], results)

    def test_work_in_progress(self):
        self.clock.freeze()
        self.assertIsNone(self.clock.work_due_s())
        idle = runtime.Condition(idle=True)
        event = runtime.Event()
        for wait in (lambda: event.wait(5), lambda: event.wait(3600), lambda: self.turn(idle)):
            runtime.spawn(wait)
        while self.clock.waits < 3:
            self.system.sleep(0.001)
        self.assertEqual(5, round(self.clock.work_due_s(), 3))
        event.set()
        with idle:
            idle.notify()

    def turn(self, condition):
        with condition:
            return condition.wait(1)

    def test_liveness_learns_of_long_jumps(self):
        self.clock.freeze()
        self.clock.jump(5)
        self.assertEqual(0, runtime.leap_s(30))
        self.clock.jump(3600)
        self.assertEqual(3600, runtime.leap_s(30))
        for _second in range(4):
            self.clock.jump(8)
        self.assertEqual(0, runtime.leap_s(30))
