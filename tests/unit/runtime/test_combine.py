"""Calls that wait at the same time are made as one call."""

import functools

import testtools

from nova_lite import runtime
from nova_lite.runtime import combine
from nova_lite.runtime import workers

LONG_S = 60


class Watched(combine.Combiner):
    """Tells when a caller waits."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.waits = runtime.SimpleQueue()

    def _await(self, place):
        self.waits.put(place)
        super()._await(place)


class CombinerTest(testtools.TestCase):
    """Callers of a service that is held until the test opens it."""

    most = 3

    def setUp(self):
        super().setUp()
        self.calls = []
        self.opened, self.entered = runtime.Event(), runtime.SimpleQueue()
        self.pool = workers.Executor(max_workers=10)
        self.addCleanup(self.pool.shutdown, wait=False)
        self.addCleanup(self.opened.set)
        self.combiner = self.make()

    def make(self, **options):
        return Watched(self.together, self.most, **options)

    def together(self, members):
        self.calls.append(list(members))
        return [member * 10 for member in members]

    def alone(self, member):
        self.calls.append(member)
        self.entered.put(member)
        self.opened.wait(LONG_S)
        return member

    def submit(self, member, **options):
        return self.pool.submit(self.combiner.call, member, lambda: self.alone(member), **options)

    def queue(self, *members):
        """Make a call, and calls of `members` that wait for its end. Return the futures of all."""
        first = self.submit(0)
        self.entered.get(timeout=LONG_S)
        futures = [first]
        for member in members:
            futures.append(self.submit(member))
            self.combiner.waits.get(timeout=LONG_S)
        return futures

    def test_a_call_alone_is_made_at_once(self):
        self.opened.set()
        self.assertEqual(4, self.combiner.call(4, lambda: self.alone(4)))
        self.assertEqual(5, self.combiner.call(5, lambda: self.alone(5)))
        self.assertEqual([4, 5], self.calls)

    def test_calls_that_wait_are_made_together(self):
        futures = self.queue(1, 2)
        self.assertEqual([0], self.calls)
        self.opened.set()
        self.assertEqual([0, 10, 20], [each.result(LONG_S) for each in futures])
        self.assertEqual([0, [1, 2]], self.calls)

    def test_a_call_has_a_bound(self):
        futures = self.queue(1, 2, 3, 4, 5)
        self.opened.set()
        self.assertEqual([0, 10, 20, 30, 40, 50], [each.result(LONG_S) for each in futures])
        self.assertEqual([0, [1, 2, 3], [4, 5]], self.calls)

    def test_the_last_of_many_is_alone(self):
        futures = self.queue(1, 2, 3, 4)
        self.opened.set()
        self.assertEqual([0, 10, 20, 30, 4], [each.result(LONG_S) for each in futures])

    def test_a_refused_call_is_made_by_each(self):
        """A member that fails fails alone."""

        def refuse(members):
            self.calls.append(list(members))

        def alone(member):
            if member == 2:
                raise ValueError(member)
            return self.alone(member)

        self.combiner._together = refuse
        first = self.submit(0)
        self.entered.get(timeout=LONG_S)
        futures = []
        for member in (1, 2, 3):
            call = functools.partial(alone, member)
            futures.append(self.pool.submit(self.combiner.call, member, call))
            self.combiner.waits.get(timeout=LONG_S)
        self.opened.set()
        self.assertEqual(0, first.result(LONG_S))
        self.assertEqual(1, futures[0].result(LONG_S))
        self.assertIsInstance(futures[1].exception(LONG_S), ValueError)
        self.assertEqual(3, futures[2].result(LONG_S))

    def test_an_error_is_that_of_each_member(self):
        def fail(_members):
            raise RuntimeError('no answer')

        self.combiner._together = fail
        futures = self.queue(1, 2)
        self.opened.set()
        self.assertEqual(0, futures[0].result(LONG_S))
        for each in futures[1:]:
            self.assertIsInstance(each.exception(LONG_S), RuntimeError)
        # The next call is not held up.
        self.assertEqual(7, self.combiner.call(7, lambda: self.alone(7)))

    def test_calls_with_different_keys_are_not_joined(self):
        """A call waits neither for those of another key, nor with them."""
        futures = self.queue(1, 2)
        other = self.submit(5, key='other')
        self.assertEqual(5, self.entered.get(timeout=LONG_S))
        self.opened.set()
        self.assertEqual([0, 10, 20], [each.result(LONG_S) for each in futures])
        self.assertEqual(5, other.result(LONG_S))
        self.assertEqual({}, self.combiner._lanes)

    def test_a_caller_that_is_interrupted_holds_up_nobody(self):
        """One that still waits, and one that is the next to call."""
        for change in (lambda place: None, lambda place: place.changed.wait(LONG_S)):
            with self.subTest(change):
                self.opened.clear()
                first = self.submit(0)
                self.entered.get(timeout=LONG_S)
                before = self.combiner._await

                def interrupted(place, change=change):
                    self.combiner.waits.put(place)
                    change(place)
                    raise KeyboardInterrupt

                self.combiner._await = interrupted
                second = self.submit(1)
                self.combiner.waits.get(timeout=LONG_S)
                self.combiner._await = before
                self.opened.set()
                self.assertIsInstance(second.exception(LONG_S), KeyboardInterrupt)
                self.assertEqual(0, first.result(LONG_S))
                self.assertEqual({}, self.combiner._lanes)

    def test_a_call_that_hangs_delays_others_once(self):
        self.combiner = self.make(patience_s=0.001)
        first = self.submit(0)
        self.entered.get(timeout=LONG_S)
        second = self.pool.submit(self.combiner.call, 1, lambda: 'beside')
        self.assertEqual('beside', second.result(LONG_S))
        self.assertFalse(first.done())
        # No caller waits for the call that hangs any more.
        for member in (2, 3):
            self.assertEqual(member, self.combiner.call(member, lambda member=member: member))
        self.assertEqual(1, self.combiner.waits.qsize())
        self.opened.set()
        self.assertEqual(0, first.result(LONG_S))
        self.assertEqual(8, self.combiner.call(8, lambda: self.alone(8)))
        self.assertEqual({}, self.combiner._lanes)

    def test_members_of_a_call_that_hangs_make_their_own(self):
        """The caller of the joint call waits for its end."""
        self.combiner = self.make(patience_s=LONG_S, repeatable=True)
        hangs, entered = runtime.Event(), runtime.Event()

        def hang(members):
            entered.set()
            hangs.wait(LONG_S)
            return [member * 10 for member in members]

        self.combiner._together = hang
        self.addCleanup(hangs.set)
        self.submit(0)
        self.entered.get(timeout=LONG_S)
        first = self.submit(1)
        self.combiner.waits.get(timeout=LONG_S)
        second = self.submit(2)
        place = self.combiner.waits.get(timeout=LONG_S)
        self.opened.set()
        entered.wait(LONG_S)
        # As the end of its patience.
        place.changed.set()
        self.assertEqual(2, second.result(LONG_S))
        self.assertFalse(first.done())
        hangs.set()
        self.assertEqual(10, first.result(LONG_S))
        self.assertEqual({}, self.combiner._lanes)
