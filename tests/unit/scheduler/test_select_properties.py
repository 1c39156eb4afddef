"""Properties of every decision, over hosts and requests that hypothesis makes."""

import collections

import hypothesis
from hypothesis import strategies

from nova_lite import runtime
from nova_lite.scheduler import manager
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler import select
from tests.fixtures import examples
from tests.unit.scheduler import base

SETTINGS = examples.settings(30, derandomize=False)
FILTERS = [
    'ComputeFilter',
    'NumInstancesFilter',
    'IoOpsFilter',
    'AggregateMultiTenancyIsolation',
    'ServerGroupAntiAffinityFilter',
    'ServerGroupAffinityFilter',
]
POLICIES = (None, 'affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity')


@strategies.composite
def made_hosts(draw):
    """Up to eight hosts in two cells, some of them unfit for something."""
    count = draw(strategies.integers(0, 8))
    return [
        base.make_host(
            f'h{index}',
            vcpus_total=draw(strategies.integers(0, 5)),
            memory_mb_used=draw(strategies.integers(0, 8)) * 1024,
            num_instances=draw(strategies.integers(0, 3)),
            num_io_ops=draw(strategies.integers(0, 3)),
            failed_builds=draw(strategies.integers(0, 1)),
            cell_uuid=draw(strategies.sampled_from((base.CELL1, base.CELL2))),
            up=draw(strategies.integers(0, 4)) > 0,
            disabled=draw(strategies.integers(0, 4)) == 0,
            mapped=draw(strategies.integers(0, 9)) > 0,
            metadata=draw(
                strategies.sampled_from(
                    ({}, {}, {'filter_tenant_id': 'wonderland'}, {'filter_tenant_id': 'oz'})
                )
            ),
        )
        for index in range(count)
    ]


@strategies.composite
def made_groups(draw):
    """A group that may have members already, or none."""
    policy = draw(strategies.sampled_from(POLICIES))
    if policy is None:
        return None
    names = draw(strategies.lists(strategies.sampled_from([f'h{i}' for i in range(8)]), max_size=3))
    return scheduling_request.Group(
        base.uuid_of('group'), policy, collections.Counter(names), draw(strategies.integers(1, 2))
    )


class Capacity:
    """A claim that hosts have vCPUs for, and no more."""

    def __init__(self, states):
        self.left = {state.uuid: state.vcpus_total for state in states}
        self.claimed = {}

    def __call__(self, uuid, host, wanted):
        amount = wanted['allocations'][host.uuid]['resources']['VCPU']
        if self.left[host.uuid] < amount:
            return False
        self.left[host.uuid] -= amount
        self.claimed[uuid] = host.uuid
        return True


class SelectPropertiesTest(base.SchedulerTestCase):
    def setUp(self):
        super().setUp()
        self.set('filter_scheduler', enabled_filters=FILTERS)
        self.set('filter_scheduler', max_instances_per_host=4, max_io_ops_per_host=4)

    def decide(self, states, group, count, offered, *, subset=1, seed=0):
        self.set('filter_scheduler', host_subset_size=subset)
        spec = base.make_spec()
        uuids = [base.uuid_of(f'server{index}') for index in range(count)]
        wanted = scheduling_request.Request(spec, uuids, group=group.copy() if group else None)
        claim = Capacity(states)
        outcome = select.select(
            wanted,
            states,
            base.make_candidates([s for s, good in zip(states, offered, strict=True) if good]),
            manager.rules(self.conf),
            claim=claim,
            rng=runtime.seeded_random(seed),
        )
        return wanted, claim, outcome

    @SETTINGS
    @hypothesis.given(strategies.data(), made_hosts(), made_groups(), strategies.integers(1, 5))
    def test_invariants(self, data, states, group, count):
        offered = data.draw(
            strategies.lists(
                strategies.integers(0, 3).map(bool), min_size=len(states), max_size=len(states)
            )
        )
        subset = data.draw(strategies.integers(1, 3))
        wanted, claim, outcome = self.decide(states, group, count, offered, subset=subset)
        by_uuid = {state.uuid: state for state in states}
        may = {state.uuid for state, good in zip(states, offered, strict=True) if good}

        # What was claimed is what was chosen, and never more than there is.
        chosen = {uuid: choice.host.uuid for uuid, choice in outcome.chosen.items()}
        self.assertEqual(claim.claimed, chosen)
        self.assertTrue(all(left >= 0 for left in claim.left.values()))

        # Every choice was offered and passes every filter, at its turn.
        self.replay(chosen, by_uuid, group)
        self.assertTrue(set(chosen.values()) <= may)
        self.assertTrue(all(by_uuid[uuid].mapped for uuid in chosen.values()))

        # Alternates: same cell, offered, not taken, no more than are allowed.
        for uuid, others in outcome.alternates.items():
            self.assertLessEqual(len(others), 2)
            for choice in others:
                self.assertEqual(by_uuid[chosen[uuid]].cell_uuid, choice.host.cell_uuid)
                self.assertIn(choice.host.uuid, may)
                self.assertNotIn(choice.host.uuid, chosen.values())

        # A server that is left out has a reason, and none that fits somewhere is left out.
        if len(chosen) < count:
            for state in states:
                if state.uuid in may:
                    self.assertIn(state.host, outcome.refusals.of_host)

    def replay(self, chosen, by_uuid, group):
        """Put the servers on their hosts one after the other, by the plain rules."""
        members = collections.Counter(group.members_on) if group else collections.Counter()
        added = collections.Counter()
        for host_uuid in chosen.values():
            host = by_uuid[host_uuid]
            self.assertTrue(host.up and not host.disabled)
            self.assertIn(host.metadata.get('filter_tenant_id'), (None, {'wonderland'}))
            self.assertLess(host.num_instances + added[host_uuid], 4)
            self.assertLess(host.num_io_ops + added[host_uuid], 4)
            if group and group.policy == 'anti-affinity':
                self.assertLess(members[host.host], group.max_per_host)
            if group and group.policy == 'affinity' and members:
                self.assertGreater(members[host.host], 0)
            members[host.host] += 1
            added[host_uuid] += 1

    @SETTINGS
    @hypothesis.given(made_hosts(), made_groups(), strategies.integers(1, 5), strategies.integers())
    def test_the_same_seed_gives_the_same_decision(self, states, group, count, seed):
        offered = [True] * len(states)

        def names():
            outcome = self.decide(states, group, count, offered, subset=3, seed=seed)[2]
            return [
                (uuid, choice.host.host, [other.host.host for other in outcome.alternates[uuid]])
                for uuid, choice in outcome.chosen.items()
                if uuid in outcome.alternates
            ]

        self.assertEqual(names(), names())

    @SETTINGS
    @hypothesis.given(made_hosts(), strategies.integers(1, 5))
    def test_without_a_group_nobody_who_fits_is_turned_away(self, states, count):
        """Greedy is enough where servers are alike and only counts limit hosts."""
        room = 0
        for state in states:
            fit = (
                state.up
                and not state.disabled
                and state.mapped
                and state.metadata.get('filter_tenant_id', {'wonderland'}) == {'wonderland'}
            )
            if fit:
                room += max(
                    0, min(state.vcpus_total, 4 - state.num_instances, 4 - state.num_io_ops)
                )
        outcome = self.decide(states, None, count, [True] * len(states))[2]
        self.assertEqual(min(room, count), len(outcome.chosen))
