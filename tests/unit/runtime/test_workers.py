"""A pool of threads that end when they have had no work for a while."""

import itertools
import weakref

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.runtime import workers

LONG_S = 60


class Threads:
    """Tells threads apart by numbers, in the order in which they first ask for one."""

    def __init__(self):
        self._numbers = itertools.count(1)
        self._local = runtime.Local()

    def number(self):
        if not hasattr(self._local, 'number'):
            self._local.number = next(self._numbers)
        return self._local.number


class Held:
    """Something that a thread holds as long as it runs."""


class Base(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.threads = Threads()
        # Opened at the end in any case: a thread that waits would hold up the end of the pool.
        self.opened = runtime.Event()
        self.addCleanup(self.opened.set)

    def make(self, most=2):
        found = workers.Executor(max_workers=most)
        self.addCleanup(found.shutdown, wait=False)
        return found

    def occupied(self):
        """Return the number of the calling thread once all are released."""
        self.opened.wait(LONG_S)
        return self.threads.number()


class ExecutorTestCase(Base):
    def test_results_and_errors(self):
        pool = self.make()
        self.assertEqual((7, 1), pool.submit(divmod, 22, 3).result(LONG_S))
        self.assertIsInstance(pool.submit(divmod, 1, 0).exception(LONG_S), ZeroDivisionError)
        self.assertEqual([0, 1, 4], list(pool.map(lambda each: each * each, range(3))))

    def test_calls_beyond_the_threads_wait(self):
        pool = self.make(2)
        futures = [pool.submit(self.occupied) for _number in range(5)]
        self.opened.set()
        self.assertLessEqual({each.result(LONG_S) for each in futures}, {1, 2})

    def test_the_system_has_no_thread_left(self):
        """Threads that are there do the work. Without any the caller hears of it."""

        def refuse(_thread):
            raise RuntimeError("can't start new thread")

        pool, empty = self.make(), self.make()
        first = pool.submit(self.occupied)
        with fixtures.MonkeyPatch('threading.Thread.start', refuse):
            second = pool.submit(self.occupied)
            self.assertRaises(RuntimeError, empty.submit, self.occupied)
        self.opened.set()
        self.assertEqual({1}, {each.result(LONG_S) for each in (first, second)})

    def test_few_threads_do_the_work_of_few(self):
        """Calls one after the other go to those that worked last, so that the others end."""
        pool = self.make(8)
        futures = [pool.submit(self.occupied) for _number in range(8)]
        self.opened.set()
        runtime.wait_all(futures, LONG_S)
        used = [pool.submit(self.occupied).result(LONG_S) for _number in range(100)]
        self.assertLess(len(set(used[50:])), 8)

    def test_an_idle_thread_ends(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.runtime.workers.IDLE_S', 0.0))
        pool, local, ended = self.make(), runtime.Local(), runtime.Event()

        def call():
            local.held = Held()
            weakref.finalize(local.held, ended.set)

        pool.submit(call)
        self.assertTrue(ended.wait(LONG_S))
        self.assertEqual(1, pool.submit(self.threads.number).result(LONG_S))

    def test_an_idle_thread_holds_nothing(self):
        pool, freed = self.make(), runtime.Event()
        held = Held()
        weakref.finalize(held, freed.set)
        pool.submit(id, held).result(LONG_S)
        del held
        self.assertTrue(freed.wait(LONG_S))


class ShutdownTestCase(Base):
    def test_accepted_calls_are_made(self):
        pool = self.make(1)
        futures = [pool.submit(self.occupied) for _number in range(3)]
        pool.shutdown(wait=False)
        self.assertRaises(RuntimeError, pool.submit, self.occupied)
        self.opened.set()
        pool.shutdown()
        self.assertEqual([1, 1, 1], [each.result(0) for each in futures])

    def test_calls_that_wait_can_be_cancelled(self):
        pool = self.make(1)
        running, waiting = pool.submit(self.occupied), pool.submit(self.occupied)
        pool.shutdown(wait=False, cancel_futures=True)
        self.assertTrue(waiting.cancelled())
        self.opened.set()
        self.assertEqual(1, running.result(LONG_S))

    def test_idle_threads_end(self):
        pool = self.make()
        pool.submit(self.threads.number).result(LONG_S)
        pool.shutdown()


class LineTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.line = workers.Line(2)
        self.addCleanup(self.line.close)
        self.go_on = runtime.Event()
        self.addCleanup(self.go_on.set)
        self.made = []

    def test_further_calls_are_refused_while_its_limit_waits(self):
        self.assertTrue(self.line.put(self.go_on.wait, 60))
        self.assertTrue(self.line.put(self.made.append, 1))
        self.assertFalse(self.line.put(self.made.append, 2))
        self.go_on.set()
        self.line.finish(lambda: None, 60)
        self.assertEqual([1], self.made)

    def test_the_last_call_comes_after_those_that_wait(self):
        self.line.put(self.made.append, 1)
        self.line.put(self.made.append, 2)
        self.line.finish(lambda: self.made.append(3), 60)
        self.line.put(self.made.append, 4)
        self.assertEqual([1, 2, 3], self.made)

    def test_it_does_not_wait_longer_than_asked(self):
        self.line.put(self.go_on.wait, 60)
        self.line.finish(lambda: self.made.append(1), 0.01)
        self.assertEqual([], self.made)

    def test_an_error_of_a_call_is_logged(self):
        log = self.useFixture(fixtures.FakeLogger())
        self.line.put(divmod, 1, 0)
        self.line.put(self.made.append, 1)
        self.line.finish(lambda: None, 60)
        self.assertEqual([1], self.made)
        self.assertIn('divmod', log.output)
        self.assertIn('ZeroDivisionError', log.output)

    def test_an_error_of_the_last_call_is_raised(self):
        self.assertRaises(ZeroDivisionError, self.line.finish, lambda: 1 / 0, 60)
