"""Commands of users to the clock of a process that has periodic tasks and work."""

import fixtures
import testtools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.testclock import clock
from nova_lite.lab.testclock import control
from tests.fixtures import clock as clocks

LIMIT_S = 60


class ControlTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clocks.Installed(clock.Clock())).runtime
        self.system = runtime.Runtime()
        self.recorded = []
        self.control = control.Control(self.clock, self.recorded.append)
        self.addCleanup(self.control.resume)
        self.failures = []

    def periodics(self, *tasks):
        made = runtime.periodics(
            tasks, threads=2, failed=lambda _turn, error: self.failures.append(error)
        )
        thread = runtime.spawn(made.start)
        self.addCleanup(thread.join)
        self.addCleanup(made.stop)
        while not self.clock.waits:
            self.system.sleep(0.001)

    def test_periodic_tasks_run_in_each_step(self):
        self.control.freeze()
        turns = []
        self.periodics((10, lambda: turns.append(runtime.monotonic())))
        before = runtime.monotonic()
        self.control.advance(60)
        self.assertEqual([10, 20, 30, 40, 50, 60], [round(turn - before) for turn in turns], turns)
        self.control.advance(86400)
        self.assertEqual(6 + control.STEPS, len(turns))
        self.assertEqual([], self.failures)

    def test_steps_end_with_the_waits_of_work(self):
        """A poll within its limit sees each answer in time, however far the clock goes."""
        self.control.freeze()
        seen, before = [], runtime.monotonic()

        def poll():
            while (now := runtime.monotonic() - before) < 20:
                seen.append(round(now, 1))
                runtime.sleep(0.5)

        thread = runtime.spawn(poll)
        self.control.advance(3600)
        thread.join(LIMIT_S)
        self.assertEqual([0.5 * number for number in range(40)], seen)

    def test_rate(self):
        turns = []
        self.control.set_rate(10000)
        self.assertEqual(10000, self.control.show()['rate'])
        self.periodics((600, lambda: turns.append(runtime.monotonic())))
        until = self.system.monotonic() + LIMIT_S
        while len(turns) < 3 and self.system.monotonic() < until:
            self.system.sleep(0.01)
        self.assertLess(2, len(turns))
        self.control.freeze()
        shown = self.control.show()
        self.assertEqual((True, 1), (shown['frozen'], shown['rate']))
        self.assertLess(1500, shown['ahead_s'])

    def test_it_is_recorded_before_it_moves(self):
        self.control.freeze()
        self.control.advance(100)
        self.assertEqual([10.0 * number for number in range(1, 11)], self.recorded)

    def test_a_process_that_works(self):
        """The clock waits for it, and says how far it went."""
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.testclock.control.BUSY_LIMIT_S', 0.05))
        stopping = []
        thread = runtime.spawn(lambda: [None for _ in iter(lambda: bool(stopping), True)])
        error = self.assertRaises(control.Busy, self.control.advance, 5)
        stopping.append(True)
        thread.join(LIMIT_S)
        self.assertIn('advanced by 0 s of 5 s', str(error))

    def busy(self):
        """Keep the process at work; return (what ends it, thread)."""
        stopping = []
        return stopping, runtime.spawn(lambda: [None for _ in iter(lambda: bool(stopping), True)])

    def advancing(self, seconds):
        """Advance in a thread until it waits for the cloud; return (thread, its errors)."""
        errors = []

        def advance():
            try:
                self.control.advance(seconds)
            except exception.Conflict as error:
                errors.append(error)

        thread = runtime.spawn(advance)
        while not self.control._turn.locked():
            self.system.sleep(0.001)
        return thread, errors

    def test_resume_interrupts_an_advance(self):
        stopping, working = self.busy()
        thread, errors = self.advancing(86400)
        began = self.system.monotonic()
        self.control.resume()
        thread.join(LIMIT_S)
        waited_s = self.system.monotonic() - began
        stopping.append(True)
        working.join(LIMIT_S)
        self.assertEqual([control.Interrupted], [type(each) for each in errors])
        self.assertIn('by 0 s of 86400 s: meanwhile', str(errors[0]))
        self.assertLess(waited_s, control.BUSY_LIMIT_S / 2)

    def test_changes_wait_while_it_is_resumed(self):
        self.control.freeze()
        with self.control.resumed():
            self.assertFalse(self.control.show()['frozen'])
            threads = [
                runtime.spawn(self.control.freeze),
                runtime.spawn(self.control.advance, 5),
            ]
            self.system.sleep(0.05)
            self.assertEqual([True, True], [each.is_alive() for each in threads])
            self.assertFalse(self.control.show()['frozen'])
        for thread in threads:
            thread.join(LIMIT_S)
        self.assertTrue(self.control.show()['frozen'])

    def test_a_rate_makes_up_for_no_advance(self):
        self.control.set_rate(1000)
        with self.control._turn:
            before = runtime.monotonic()
            self.system.sleep(1)
        self.control.freeze()
        self.assertLess(runtime.monotonic() - before, 500)

    def test_refused(self):
        for seconds in (0, -1, control.LONGEST_ADVANCE_S + 1, float('nan')):
            error = self.assertRaises(exception.Invalid, self.control.advance, seconds)
            self.assertIn('seconds must be', str(error))
        for rate in (0, 0.5, control.HIGHEST_RATE + 1, float('nan')):
            error = self.assertRaises(exception.Invalid, self.control.set_rate, rate)
            self.assertIn('rate must be', str(error))
