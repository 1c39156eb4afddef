"""Candidates and allocations, on the real placement."""

import itertools

from nova_lite import exception
from nova_lite import runtime
from tests.unit.clients import base


class CandidatesTest(base.PlacementTestCase):
    """GET /allocation_candidates."""

    def ask(self, *pairs):
        query = [('resources', 'MEMORY_MB:512,VCPU:1'), *pairs]
        found = self.placement.candidates(self.admin, query)
        return {
            provider for item in found['allocation_requests'] for provider in item['allocations']
        }

    def test_hosts_with_room_are_candidates(self):
        small = self.add_host('small', ram_mb=256)
        large = self.add_host('large')
        self.assertEqual({large}, self.ask())
        self.assertNotIn(small, self.ask())

    def test_a_wide_tree_is_bounded(self):
        """Two hosts of eight GPUs have 40,320 candidates for six of them, which would take 47 s."""
        hosts = [self.add_host(name) for name in 'ab']
        for host, number in itertools.product(hosts, range(8)):
            gpu = runtime.new_uuid()
            self.providers.ensure(self.admin, gpu, f'{host}_{number}', parent=host)
            self.providers.set_inventories(self.admin, gpu, {'CUSTOM_GPU': {'total': 1}})
        groups = [(f'resources{number}', 'CUSTOM_GPU:1') for number in range(1, 7)]
        found = self.ask(('group_policy', 'none'), ('limit', '1000'), *groups)
        self.assertEqual({*hosts}, {*hosts} & found)
        self.assertEqual(18, len(found))

    def test_a_query_may_repeat_a_key(self):
        both, one = self.add_host('both'), self.add_host('one')
        first, second = runtime.new_uuid(), runtime.new_uuid()
        for host, aggregate in ((both, first), (both, second), (one, first)):
            self.providers.add_to_aggregate(self.admin, host, aggregate)
        self.assertEqual(
            {both}, self.ask(('member_of', f'in:{first}'), ('member_of', f'in:{second}'))
        )

    def test_root_required_takes_traits_that_must_not_be(self):
        off = self.add_host('off', traits=['COMPUTE_STATUS_DISABLED'])
        on = self.add_host('on')
        self.assertEqual({on}, self.ask(('root_required', '!COMPUTE_STATUS_DISABLED')))
        self.assertEqual({off, on}, self.ask())

    def test_a_contradiction_is_invalid(self):
        error = self.assertRaises(
            exception.Invalid, self.ask, ('required', 'HW_CPU_X86_AVX,!HW_CPU_X86_AVX')
        )
        self.assertIn('HW_CPU_X86_AVX', error.message)


class ClaimTest(base.PlacementTestCase):
    """Claims of one consumer."""

    def setUp(self):
        super().setUp()
        self.host = self.add_host('host')
        self.consumer = base.consumer()

    def claim(self, request, **options):
        return self.placement.claim(self.admin, self.consumer, request, **options)

    def held(self):
        return self.placement.holding(self.admin, self.consumer.uuid)

    def test_a_new_consumer_costs_one_request(self):
        claimed, requests = self.count_requests(self.claim, base.request(self.host), new=True)
        self.assertTrue(claimed)
        self.assertEqual([('PUT', f'/placement/allocations/{self.consumer.uuid}')], requests)
        held = self.held()
        self.assertEqual({self.host: {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}}, held.allocations)
        self.assertEqual(('wonderland', 'alice'), (held.project_id, held.user_id))

    def test_a_consumer_nobody_knows_holds_nothing(self):
        self.assertFalse(self.held())
        self.assertIsNone(self.held().generation)

    def test_no_room(self):
        self.assertFalse(self.claim(base.request(self.host, vcpus=5), new=True))
        self.assertFalse(self.held())

    def test_a_provider_that_is_gone(self):
        self.assertFalse(self.claim(base.request(runtime.new_uuid()), new=True))

    def test_a_consumer_that_a_killed_placement_left_behind(self):
        self.server.leave_behind(self.consumer, generation=3)
        self.assertTrue(self.claim(base.request(self.host), new=True))
        self.assertEqual(1, self.held().allocations[self.host]['VCPU'])

    def test_one_of_several_that_a_killed_placement_left_behind(self):
        self.server.leave_behind(self.consumer)
        claims = [(each, base.request(self.host)) for each in (base.consumer(), self.consumer)]
        self.assertTrue(self.placement.claim_all(self.admin, claims))
        for consumer, _request in claims:
            self.assertTrue(self.placement.holding(self.admin, consumer.uuid))

    def test_a_move_to_one_that_a_killed_placement_left_behind(self):
        self.claim(base.request(self.host), new=True)
        target = base.consumer()
        self.server.leave_behind(target)
        moved = self.placement.move_allocations(
            self.admin, self.consumer.uuid, target.uuid, new=True
        )
        self.assertTrue(moved)
        self.assertFalse(self.held())

    def test_a_claim_twice_is_one_claim(self):
        for new in (True, True, False):
            self.assertTrue(self.claim(base.request(self.host), new=new))
        self.assertEqual(1, self.held().allocations[self.host]['VCPU'])

    def test_a_second_host_is_added(self):
        other = self.add_host('other')
        self.claim(base.request(self.host), new=True)
        for _ in range(2):  # again, as after a lost reply
            self.assertTrue(self.claim(base.request(other)))
            self.assertEqual({self.host, other}, set(self.held().allocations))

    def test_one_that_is_free_costs_one_request(self):
        path = ('PUT', f'/placement/allocations/{self.consumer.uuid}')
        claimed, requests = self.count_requests(self.claim, base.request(self.host), free=True)
        self.assertTrue(claimed)
        self.assertEqual([path], requests)
        full = base.request(self.host, vcpus=5)
        self.assertFalse(self.placement.claim(self.admin, base.consumer(), full, free=True))

    def test_one_that_is_not_free_after_all_gets_the_claim_besides(self):
        other = self.add_host('other')
        self.claim(base.request(self.host), new=True)
        for _ in range(2):
            self.assertTrue(self.claim(base.request(other), free=True))
            self.assertEqual({self.host, other}, set(self.held().allocations))
        self.assertEqual(1, self.held().allocations[other]['VCPU'])

    def test_one_that_holds_what_it_must_not(self):
        other, third = self.add_host('other'), self.add_host('third')
        self.claim(base.request(self.host), new=True)
        for free in (True, False):
            self.assertRaises(
                exception.AllocationConflict,
                self.claim,
                base.request(other),
                free=free,
                beside=[third],
            )
        self.assertEqual({self.host}, set(self.held().allocations))
        for _ in range(2):
            self.assertTrue(self.claim(base.request(other), free=True, beside=[self.host]))
        self.assertEqual({self.host, other}, set(self.held().allocations))

    def test_a_free_one_that_a_killed_placement_left_behind(self):
        self.server.leave_behind(self.consumer, generation=3)
        self.assertTrue(self.claim(base.request(self.host), free=True))
        self.assertEqual(1, self.held().allocations[self.host]['VCPU'])

    def test_a_shared_provider_is_summed(self):
        shared, dest = self.add_host('shared'), self.add_host('dest')

        def split(host):
            return {
                'allocations': {
                    host: {'resources': {'VCPU': 1}},
                    shared: {'resources': {'DISK_GB': 10}},
                }
            }

        self.claim(split(self.host), new=True)
        self.assertTrue(self.claim(split(dest)))
        self.assertEqual(
            {self.host: {'VCPU': 1}, dest: {'VCPU': 1}, shared: {'DISK_GB': 20}},
            self.held().allocations,
        )

    def test_new_but_held_by_another_claim(self):
        other = self.add_host('other')
        self.claim(base.request(self.host), new=True)
        self.assertRaises(exception.AllocationConflict, self.claim, base.request(other), new=True)
        self.assertEqual({self.host}, set(self.held().allocations))

    def test_the_last_place_goes_to_one_of_many(self):
        consumers = [base.consumer() for _ in range(8)]
        won = []

        def work(consumer):
            if self.placement.claim(
                self.admin, consumer, base.request(self.host, vcpus=4), new=True
            ):
                won.append(consumer.uuid)

        threads = [runtime.spawn(work, consumer) for consumer in consumers]
        for thread in threads:
            thread.join()
        self.assertEqual(1, len(won))
        self.assertEqual(won, list(self.providers.allocations(self.admin, self.host)))


class MoveTest(base.PlacementTestCase):
    """From the instance to the migration and back."""

    def setUp(self):
        super().setUp()
        self.source, self.dest = self.add_host('source'), self.add_host('dest')
        self.instance = base.consumer()
        self.migration = runtime.new_uuid()
        self.placement.claim(self.admin, self.instance, base.request(self.source), new=True)

    def move(self, source, target, **options):
        return self.placement.move_allocations(self.admin, source, target, **options)

    def hosts(self, consumer):
        return set(self.placement.holding(self.admin, consumer).allocations)

    def test_to_the_migration(self):
        moved, requests = self.count_requests(
            self.move, self.instance.uuid, self.migration, new=True
        )
        self.assertTrue(moved)
        self.assertEqual(
            [
                ('GET', f'/placement/allocations/{self.instance.uuid}'),
                ('POST', '/placement/allocations'),
            ],
            requests,
        )
        self.assertEqual(
            (set(), {self.source}), (self.hosts(self.instance.uuid), self.hosts(self.migration))
        )
        held = self.placement.holding(self.admin, self.migration)
        self.assertEqual(('wonderland', 'alice'), (held.project_id, held.user_id))

    def test_a_move_twice_is_one_move(self):
        for _ in range(2):
            self.assertTrue(self.move(self.instance.uuid, self.migration, new=True))
        self.assertEqual({self.source}, self.hosts(self.migration))

    def test_back_drops_the_claim_on_the_destination(self):
        self.move(self.instance.uuid, self.migration, new=True)
        self.placement.claim(self.admin, self.instance, base.request(self.dest, vcpus=2))
        for _ in range(2):
            self.assertTrue(self.move(self.migration, self.instance.uuid))
            self.assertEqual(
                ({self.source}, set()), (self.hosts(self.instance.uuid), self.hosts(self.migration))
            )

    def test_both_keep_what_they_hold_of_some_hosts(self):
        left = self.add_host('left')
        self.placement.claim(self.admin, self.instance, base.request(left))
        for _ in range(2):
            self.assertTrue(self.move(self.instance.uuid, self.migration, once=True, keep={left}))
            self.assertEqual({left}, self.hosts(self.instance.uuid))
            self.assertEqual({self.source}, self.hosts(self.migration))
        self.placement.claim(self.admin, self.instance, base.request(self.dest, vcpus=2))
        for _ in range(2):
            self.assertTrue(self.move(self.migration, self.instance.uuid, keep={left}))
            self.assertEqual({left, self.source}, self.hosts(self.instance.uuid))
            self.assertEqual(set(), self.hosts(self.migration))
        everything = {left, self.source}
        self.assertFalse(self.move(self.instance.uuid, self.migration, keep=everything))

    def test_on_a_full_host(self):
        self.placement.claim(
            self.admin, base.consumer(), base.request(self.source, vcpus=3), new=True
        )
        self.assertTrue(self.move(self.instance.uuid, self.migration, new=True))

    def test_nothing_to_move(self):
        self.assertFalse(self.move(runtime.new_uuid(), self.migration, new=True))

    def test_target_not_as_new_as_told(self):
        self.placement.claim(self.admin, base.consumer(), base.request(self.dest), new=True)
        self.move(self.instance.uuid, self.migration)
        self.placement.claim(self.admin, self.instance, base.request(self.dest))
        self.assertTrue(self.move(self.instance.uuid, self.migration, new=True))
        self.assertEqual({self.dest}, self.hosts(self.migration))


class GiveUpTest(base.PlacementTestCase):
    """Deletion of all or a part."""

    def setUp(self):
        super().setUp()
        self.source, self.dest = self.add_host('source'), self.add_host('dest')
        self.instance = base.consumer()
        for host in (self.source, self.dest):
            self.placement.claim(self.admin, self.instance, base.request(host))

    def hosts(self):
        return set(self.placement.holding(self.admin, self.instance.uuid).allocations)

    def test_one_host(self):
        for expected in (True, False):
            self.assertEqual(
                expected, self.placement.release(self.admin, self.instance.uuid, {self.source})
            )
            self.assertEqual({self.dest}, self.hosts())

    def test_the_last_host(self):
        self.assertTrue(
            self.placement.release(self.admin, self.instance.uuid, {self.source, self.dest})
        )
        self.assertEqual(set(), self.hosts())

    def test_whatever_it_holds(self):
        for given in (True, False):
            self.assertEqual(given, self.placement.release(self.admin, self.instance.uuid, None))
            self.assertEqual(set(), self.hosts())

    def test_all(self):
        for force in (False, True):
            self.placement.claim(self.admin, self.instance, base.request(self.source))
            for expected in (True, False):
                self.assertEqual(
                    expected,
                    self.placement.delete_allocations(self.admin, self.instance.uuid, force=force),
                )
                self.assertEqual(set(), self.hosts())

    def test_all_but_one(self):
        for expected in (True, False):
            given = self.placement.delete_allocations(
                self.admin, self.instance.uuid, keep={self.dest}
            )
            self.assertEqual(expected, given)
            self.assertEqual({self.dest}, self.hosts())

    def test_force_costs_one_request(self):
        _, requests = self.count_requests(
            self.placement.delete_allocations, self.admin, self.instance.uuid, force=True
        )
        self.assertEqual([('DELETE', f'/placement/allocations/{self.instance.uuid}')], requests)
