"""One query for concurrent requests of the same shape."""

import dataclasses

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.scheduler import candidates
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from tests.fixtures import clock
from tests.fixtures import counting
from tests.unit.scheduler import base

QUERY = ((('resources', 'VCPU:1'),),)
OTHER = ((('resources', 'VCPU:2'),),)


class Stand:
    """Stands in for placement's client: offers `hosts` hosts, counts what is asked."""

    def __init__(self):
        self.asked = []
        self.hosts = 1
        self.error = None
        self.during = lambda: None

    def candidates(self, ctxt, query):
        self.asked.append(query)
        self.during()
        if self.error:
            raise self.error
        names = ['a', *(f'b{number}' for number in range(1, self.hosts))]
        return base.make_answer([base.make_host(name) for name in names])


class CandidatesTest(base.SchedulerTestCase):
    def test_index_has_every_provider_of_the_tree(self):
        root, child, shared = (base.uuid_of(name) for name in ('root', 'child', 'shared'))
        amount = {'resources': {'VCPU': 1}}
        body = {
            'allocation_requests': [{'allocations': {child: amount, shared: amount}}],
            'provider_summaries': {
                uuid: {'resources': {}, 'root_provider_uuid': above}
                for uuid, above in ((root, root), (child, root), (shared, shared))
            },
        }
        found = candidates.Candidates(body)
        self.assertEqual({root, child, shared}, found.offered)
        self.assertEqual(1, len(found.of(root)))
        self.assertEqual((), found.of(base.uuid_of('unknown')))

    def test_several_answers_follow_each_other(self):
        first, second = base.make_host('a'), base.make_host('b')
        found = candidates.Candidates(base.make_answer([first]), base.make_answer([second, first]))
        self.assertEqual({first.uuid, second.uuid}, found.offered)
        self.assertEqual(2, len(found.of(first.uuid)))

    def test_empty(self):
        self.assertFalse(candidates.Candidates(base.make_answer([])))

    def test_no_more_is_taken_than_there_is(self):
        host = base.make_host('a', vcpus_total=2)
        found = base.make_candidates([host])
        (wanted,) = found.of(host.uuid)
        self.assertEqual([True, True, False], [found.take(wanted) for _ in range(3)])
        found.give_back(wanted)
        self.assertTrue(found.take(wanted))

    def test_a_provider_without_summary_is_not_counted(self):
        found = base.make_candidates([])
        wanted = {'allocations': {base.uuid_of('x'): {'resources': {'VCPU': 1}}}}
        self.assertTrue(found.take(wanted))


class AmongTest(base.SchedulerTestCase):
    """Hosts of a snapshot that are offered."""

    def setUp(self):
        super().setUp()
        self.states = [base.make_host(f'host{number}') for number in range(100)]
        self.snapshot = hosts.Snapshot(self.states)
        elsewhere = base.make_host('elsewhere')
        self.offered = [self.states[3], self.states[1], elsewhere, self.states[2]]

    def test_they_have_the_order_of_the_snapshot(self):
        found = base.make_candidates(self.offered)
        self.assertEqual(self.states[1:4], found.among(self.snapshot))

    def test_they_are_as_the_last_change_left_them(self):
        found = base.make_candidates(self.offered)
        found.among(self.snapshot)
        changed = dataclasses.replace(self.states[2], num_instances=7)
        self.snapshot.replace(changed)
        self.assertIs(changed, found.among(self.snapshot)[1])

    def test_another_snapshot_has_its_own(self):
        found = base.make_candidates(self.offered)
        found.among(self.snapshot)
        other = hosts.Snapshot([self.states[2], self.states[1]])
        self.assertEqual([self.states[2], self.states[1]], found.among(other))

    def test_others_are_not_read(self):
        found = base.make_candidates(self.offered)
        found.among(self.snapshot)
        self.snapshot.hosts = counting.Dict(self.snapshot.hosts)
        found.among(self.snapshot)
        self.assertEqual(3, self.snapshot.hosts.read)


class SourceTest(base.SchedulerTestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.placement = Stand()
        self.source = candidates.Source(self.placement, 1.0)

    def get(self, query=QUERY, **options):
        return self.source.get(context.admin(), query, **options)

    def test_an_answer_is_reused_for_a_while(self):
        first = self.get()
        self.clock.advance(0.9)
        self.assertIs(first, self.get())
        self.clock.advance(0.2)
        self.assertIsNot(first, self.get())
        self.assertEqual(2, len(self.placement.asked))

    def test_not_at_all(self):
        self.source.reuse_s = 0
        self.placement.during = lambda: self.clock.advance(5)
        self.get()
        self.get()
        self.assertEqual(2, len(self.placement.asked))

    def test_another_shape_is_another_query(self):
        self.get()
        self.get(OTHER)
        self.assertEqual([QUERY[0], OTHER[0]], self.placement.asked)

    def test_two_queries_make_one_answer(self):
        found = self.get(QUERY + OTHER)
        self.assertEqual([QUERY[0], OTHER[0]], self.placement.asked)
        self.assertEqual(2, len(found.of(base.uuid_of('a'))))

    def test_a_change_of_version_asks_anew(self):
        first = self.get(version=1)
        self.assertIs(first, self.get(version=1))
        self.assertIsNot(first, self.get(version=2))

    def test_an_answer_from_before_may_be_refused(self):
        first = self.get()
        self.clock.advance(0.1)
        now = runtime.monotonic()
        second = self.get(since=now)
        self.assertIsNot(first, second)
        self.assertIs(second, self.get(since=now))

    def test_an_answer_that_took_long_is_kept_longer(self):
        """Five times as long as it took, up to 10 s; with many hosts 20 times, up to 30 s."""
        many = host_states.MANY
        for number, took, kept in (
            *((1, 0.1, 1), (1, 1.5, 7.5), (many - 1, 60, 10)),
            *((many, 0.01, 1), (many, 1, 20), (many, 60, 30)),
        ):
            with self.subTest(hosts=number, took=took):
                self.source.invalidate()
                self.placement.hosts = number
                self.placement.during = lambda took=took: self.clock.advance(took)
                first = self.get()
                self.clock.advance(kept - 0.1)
                self.assertIs(first, self.get())
                self.clock.advance(0.2)
                self.assertIsNot(first, self.get())

    def expire(self, *, took=1.5, hosts=host_states.MANY):
        """Get an answer that took so many seconds, and let its time end."""
        self.placement.during = lambda: self.clock.advance(took)
        self.placement.hosts = hosts
        first = self.get()
        self.clock.advance(host_states.EFFORT_FOR_MANY * took + 0.1)
        return first

    def during_the_next(self, function):
        """Call a function while placement is asked the next time. Return its results, and that."""
        found = []
        self.placement.during = lambda: found.append(function())
        return found, self.get()

    def test_a_slow_answer_serves_until_the_next_one(self):
        first = self.expire()
        found, second = self.during_the_next(self.get)
        self.assertEqual([first], found)
        self.assertIsNot(first, second)
        self.assertIs(second, self.get())
        self.assertEqual(2, len(self.placement.asked))

    def test_an_answer_about_few_hosts_does_not(self):
        self.expire(took=0.2, hosts=5)
        self.assertFalse(self.source._answers[QUERY].may_bridge(None, 1.0))

    def test_while_placement_hangs_an_answer_serves_for_a_minute(self):
        """A trait may be taken from a host in placement itself, which no claim checks."""
        first = self.expire()
        served = [True]

        def hang():
            while served[-1]:
                answer = self.source._answers[QUERY]
                self.clock.advance(10)
                served.append(answer.former.may_bridge(None, 1.0))
                if served[-1]:
                    self.assertIs(first, self.get())

        self.placement.during = hang
        self.get()
        self.assertEqual(2, len(served[1:-1]))

    def test_a_quick_answer_does_not(self):
        self.expire(took=0.04)
        self.assertFalse(self.source._answers[QUERY].may_bridge(None, 1.0))

    def test_an_answer_of_another_version_does_not(self):
        self.expire()
        self.assertFalse(self.source._answers[QUERY].may_bridge(2, 1.0))

    def test_an_answer_that_is_much_older_does_not(self):
        self.expire()
        self.clock.advance(60)
        self.assertFalse(self.source._answers[QUERY].may_bridge(None, 1.0))

    def test_a_claim_meanwhile_is_noted_in_the_next_answer(self):
        first = self.expire()
        (wanted,) = first.of(base.uuid_of('a'))
        first.take(wanted)  # placement counts this one
        _found, second = self.during_the_next(lambda: [first.take(wanted) for _ in range(3)])
        self.assertEqual([True] * 5 + [False], [second.take(wanted) for _ in range(6)])

    def test_invalidate(self):
        first = self.get()
        self.source.invalidate()
        self.assertIsNot(first, self.get())

    def test_few_shapes_are_kept(self):
        self.get()
        for number in range(candidates.SHAPES):
            self.get(((('resources', f'VCPU:{number + 2}'),),))
        self.placement.asked.clear()
        self.get()
        self.assertEqual([QUERY[0]], self.placement.asked)

    def test_an_error_is_not_kept(self):
        self.placement.error = exception.Invalid(reason='no')
        self.assertRaises(exception.Invalid, self.get)
        self.placement.error = None
        self.assertTrue(self.get())

    def test_concurrent_requests_share_a_query(self):
        asked, answer = runtime.Event(), runtime.Event()
        found = []

        def wait():
            asked.set()
            answer.wait(60)

        self.placement.during = wait
        threads = [runtime.spawn(lambda: found.append(self.get())) for _ in range(5)]
        asked.wait(60)
        answer.set()
        for thread in threads:
            thread.join()
        self.assertEqual(5, len(found))
        self.assertEqual(1, len(set(map(id, found))))
        self.assertEqual(1, len(self.placement.asked))

    def test_who_waits_gets_the_error_too(self):
        asked, answer = runtime.Event(), runtime.Event()
        errors = []

        def fail():
            asked.set()
            answer.wait(60)
            raise exception.Unavailable(service='placement', reason='gone')

        def get():
            try:
                self.get()
            except exception.Unavailable as error:
                errors.append(error)

        self.placement.during = fail
        threads = [runtime.spawn(get) for _ in range(3)]
        asked.wait(60)
        answer.set()
        for thread in threads:
            thread.join()
        self.assertEqual(3, len(errors))
