"""The decision, case by case."""

import collections
import dataclasses

from nova_lite import runtime
from nova_lite.scheduler import candidates
from nova_lite.scheduler import manager
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler import select
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.scheduler import base

GROUP = base.uuid_of('group')


class SelectTestCase(base.SchedulerTestCase):
    def select(self, wanted, states, *, offered=None, claim=None, seed=1):
        """Run `select` over hosts that placement offers (all, unless told otherwise)."""
        return select.select(
            wanted,
            states,
            base.make_candidates(states if offered is None else offered),
            manager.rules(self.conf),
            claim=claim or (lambda *_: True),
            rng=runtime.seeded_random(seed),
        )

    def chosen(self, *args, **options):
        """Names of the hosts chosen, in the order of the servers."""
        found = self.select(*args, **options).chosen
        return [choice.host.host for choice in found.values()]

    def hosts(self, names='abcd', **values):
        """Hosts, each with less memory in use than the one before it."""
        return [
            base.make_host(name, memory_mb_used=1024 * (len(names) - index), **values)
            for index, name in enumerate(names)
        ]


class SelectTest(SelectTestCase):
    def test_the_best_is_chosen(self):
        self.assertEqual(['d'], self.chosen(base.make_request(), self.hosts()))

    def test_only_what_placement_offers(self):
        states = self.hosts()
        outcome = self.select(base.make_request(), states, offered=states[:2])
        self.assertEqual('b', next(iter(outcome.chosen.values())).host.host)
        self.assertEqual({}, outcome.refusals.of_host)

    def test_a_refused_claim_leads_to_the_next(self):
        outcome = self.select(
            base.make_request(), self.hosts(), claim=lambda uuid, host, wanted: host.host == 'b'
        )
        self.assertEqual(['b'], [choice.host.host for choice in outcome.chosen.values()])
        self.assertEqual({'d', 'c'}, set(outcome.refusals.of_host))
        self.assertEqual('claim', outcome.refusals.of_host['d'][0])

    def test_the_first_allocation_request_of_a_host_is_claimed(self):
        asked = []
        state = base.make_host('a')
        outcome = self.select(
            base.make_request(), [state], claim=lambda *args: asked.append(args) or True
        )
        ((uuid, host, wanted),) = asked
        self.assertEqual((state.uuid, state), (host.uuid, host))
        self.assertEqual({state.uuid}, set(wanted['allocations']))
        self.assertEqual({uuid: select.Choice(state, wanted)}, outcome.chosen)

    def test_no_host(self):
        for states, options in (([], {}), (self.hosts(), {'offered': []})):
            self.assertEqual([], self.chosen(base.make_request(), states, **options))

    def test_nothing_is_changed(self):
        states = self.hosts()
        before = [(state.num_instances, state.vcpus_used) for state in states]
        self.select(base.make_request(count=3), states)
        self.assertEqual(before, [(state.num_instances, state.vcpus_used) for state in states])

    def test_refusals_name_the_filter(self):
        states = [base.make_host('a', up=False), base.make_host('b')]
        outcome = self.select(base.make_request(), states)
        self.assertEqual(
            {'a': ('ComputeFilter', 'its compute service is down')}, outcome.refusals.of_host
        )

    def test_an_unmapped_host_is_not_chosen(self):
        states = [base.make_host('a', mapped=False), *self.hosts('b')]
        self.assertEqual(['b'], self.chosen(base.make_request(), states))


class BatchTest(SelectTestCase):
    def test_each_choice_counts_for_the_next(self):
        states = [base.make_host(name) for name in 'abc']
        self.assertEqual(['a', 'b', 'c', 'a'], self.chosen(base.make_request(count=4), states))

    def test_hosts_run_out(self):
        left = collections.Counter(a=1, b=1)

        def claim(uuid, host, wanted):
            left[host.host] -= 1
            return left[host.host] >= 0

        outcome = self.select(base.make_request(count=3), self.hosts('ab'), claim=claim)
        self.assertEqual(2, len(outcome.chosen))

    def test_limits_hold_within_a_batch(self):
        self.set('filter_scheduler', enabled_filters=['NumInstancesFilter'])
        self.set('filter_scheduler', max_instances_per_host=2)
        chosen = self.chosen(base.make_request(count=5), [base.make_host(name) for name in 'ab'])
        self.assertEqual({'a': 2, 'b': 2}, collections.Counter(chosen))

    def test_anti_affinity_within_a_batch(self):
        group = scheduling_request.Group(GROUP, 'anti-affinity')
        states = [base.make_host(name) for name in 'abc']
        wanted = base.make_request(count=4, group=group)
        outcome = self.select(wanted, states)
        self.assertEqual(3, len({choice.host.host for choice in outcome.chosen.values()}))
        self.assertEqual(
            {'ServerGroupAntiAffinityFilter'},
            {stage for stage, _reason in outcome.refusals.of_host.values()},
        )

    def test_affinity_within_a_batch(self):
        group = scheduling_request.Group(GROUP, 'affinity')
        states = [base.make_host(name) for name in 'abc']
        chosen = self.chosen(base.make_request(count=4, group=group), states)
        self.assertEqual(1, len(set(chosen)))

    def test_soft_anti_affinity_spreads_first(self):
        self.set('filter_scheduler', weight_classes=['ServerGroupSoftAntiAffinityWeigher'])
        group = scheduling_request.Group(GROUP, 'soft-anti-affinity')
        states = [base.make_host(name) for name in 'abc']
        chosen = self.chosen(base.make_request(count=6, group=group), states)
        self.assertEqual({'a': 2, 'b': 2, 'c': 2}, collections.Counter(chosen))


class DedicatedCpusTest(SelectTestCase):
    """The second query offers hosts with the CPUs of a pinned guest as shared ones."""

    def taken(self, offered, **specs):
        """Resources claimed for a pinned server, by host.

        One host has no dedicated CPUs, one has some, and one has some without threads.
        """
        nfv = profile.load('nfv').behaviour('host').numa
        nodes = tuple(
            dataclasses.replace(node, cores=tuple((cpu,) for core in node.cores for cpu in core))
            for node in nfv.nodes
        )
        single = dataclasses.replace(nfv, nodes=nodes)
        states = [
            base.make_host('plain'),
            base.make_host('nfv', numa={'host': nfv.to_dict(), 'guests': {}}),
            base.make_host('single', numa={'host': single.to_dict(), 'guests': {}}),
        ]
        self.set('filter_scheduler', enabled_filters=[])
        answers = [base.make_answer(states, {name: 2}) for name in offered]
        found = {}

        def claim(_uuid, host, wanted):
            (part,) = wanted['allocations'].values()
            found[host.host] = [*part['resources']]
            return False

        extra = {'hw:cpu_policy': 'dedicated', **specs}
        select.select(
            base.make_request(base.make_spec(extra_specs=extra)),
            states,
            candidates.Candidates(*answers),
            manager.rules(self.conf),
            claim=claim,
            rng=runtime.seeded_random(1),
        )
        return found

    def test_dedicated_cpus_are_no_shared_ones(self):
        self.assertEqual({'plain': ['VCPU']}, self.taken(['VCPU']))
        both = self.taken(['PCPU', 'VCPU'])
        self.assertEqual(dict.fromkeys(('plain', 'nfv', 'single'), ['PCPU']), both)

    def test_whole_cores_of_hosts_with_threads(self):
        found = self.taken(['VCPU'], **{'hw:cpu_thread_policy': 'isolate'})
        self.assertEqual({'plain': ['VCPU'], 'nfv': ['VCPU']}, found)

    def test_cores_without_threads_are_dedicated_cpus(self):
        """Placement offers them as such. It does not while others hold all of them."""
        found = self.taken(['PCPU'], **{'hw:cpu_thread_policy': 'isolate'})
        self.assertEqual(['PCPU'], found['single'])
        found = self.taken(['VCPU'], **{'hw:cpu_thread_policy': 'isolate'})
        self.assertNotIn('single', found)


class NamedHostsTest(SelectTestCase):
    def chosen_for(self, states=None, **values):
        return self.chosen(base.make_request(base.make_spec(**values)), states or self.hosts())

    def test_ignored_hosts_whatever_their_case(self):
        self.assertEqual(['b'], self.chosen_for(ignore_hosts=['D', 'c']))

    def test_no_host_has_devices(self):
        for kind in ('accelerator-direct', 'accelerator-direct-physical'):
            ports = [{'port_id': 'p'}, {'port_id': 'q', 'vnic_type': kind}]
            self.assertEqual([], self.chosen_for(requested_networks=ports), kind)
        self.assertEqual([], self.chosen_for(extra_specs={'accel:device_profile': 'fpga'}))
        plain = [{'port_id': 'p', 'vnic_type': 'smart-nic'}]
        self.assertNotEqual([], self.chosen_for(requested_networks=plain))

    def test_forced_host_whatever_its_case(self):
        self.assertEqual(['a'], self.chosen_for(force_hosts=['A']))
        self.assertEqual(['b'], self.chosen_for(force_nodes=['b']))
        self.assertEqual([], self.chosen_for(force_hosts=['a'], force_nodes=['b']))

    def test_a_forced_host_is_not_filtered(self):
        states = [base.make_host('a', up=False), base.make_host('b')]
        self.assertEqual(['a'], self.chosen_for(states, force_hosts=['a']))

    def test_a_forced_host_must_be_offered(self):
        states = self.hosts()
        wanted = base.make_request(base.make_spec(force_hosts=['a']))
        self.assertEqual([], self.chosen(wanted, states, offered=states[1:]))

    def destined(self, **values):
        spec = base.make_spec()
        for name, value in values.items():
            setattr(spec.destination(), name, value)
        return base.make_request(spec)

    def test_requested_host_exactly(self):
        self.assertEqual(['a'], self.chosen(self.destined(host='a'), self.hosts()))
        self.assertEqual(['a'], self.chosen(self.destined(node='a'), self.hosts()))
        self.assertEqual([], self.chosen(self.destined(host='A'), self.hosts()))
        self.assertEqual([], self.chosen(self.destined(host='a', node='b'), self.hosts()))

    def test_a_requested_host_is_filtered(self):
        states = [base.make_host('a', up=False), base.make_host('b')]
        outcome = self.select(self.destined(host='a'), states)
        self.assertEqual({}, outcome.chosen)
        self.assertEqual('ComputeFilter', outcome.refusals.of_host['a'][0])

    def test_cell(self):
        states = [*self.hosts('ab'), *self.hosts('cd', cell_uuid=base.CELL2)]
        self.assertEqual(['b'], self.chosen(self.destined(cell=base.CELL1), states))
        across = self.destined(cell=base.CELL1, allow_cross_cell_move=True)
        self.assertEqual(['b'], self.chosen(across, states))
        self.set('filter_scheduler', cross_cell_move_weight_multiplier=-1000.0)
        self.assertEqual(['d'], self.chosen(across, states))


class ChanceTest(SelectTestCase):
    def test_subset(self):
        self.set('filter_scheduler', host_subset_size=2)
        found = {self.chosen(base.make_request(), self.hosts(), seed=seed)[0] for seed in range(30)}
        self.assertEqual({'c', 'd'}, found)

    def test_subset_larger_than_there_are_hosts(self):
        self.set('filter_scheduler', host_subset_size=99)
        self.assertEqual(1, len(self.chosen(base.make_request(), self.hosts())))

    def test_shuffle(self):
        states = [base.make_host(name) for name in 'abcd']
        self.assertEqual(['a'], self.chosen(base.make_request(), states))
        self.set('filter_scheduler', shuffle_best_same_weighed_hosts=True)
        found = {self.chosen(base.make_request(), states, seed=seed)[0] for seed in range(50)}
        self.assertEqual(set('abcd'), found)

    def test_shuffle_keeps_the_order_of_weights(self):
        self.set('filter_scheduler', shuffle_best_same_weighed_hosts=True)
        for seed in range(20):
            self.assertEqual(['d'], self.chosen(base.make_request(), self.hosts(), seed=seed))


class AlternatesTest(SelectTestCase):
    def alternates(self, *args, **options):
        found = self.select(*args, **options).alternates
        return [[choice.host.host for choice in choices] for choices in found.values()]

    def test_the_next_best(self):
        self.assertEqual([['c', 'b']], self.alternates(base.make_request(), self.hosts()))

    def test_as_many_as_attempts_are_left(self):
        self.set('scheduler', max_attempts=1)
        self.assertEqual([[]], self.alternates(base.make_request(), self.hosts()))
        self.set('scheduler', max_attempts=9)
        self.assertEqual([['c', 'b', 'a']], self.alternates(base.make_request(), self.hosts()))

    def test_in_the_cell_of_the_choice(self):
        states = [*self.hosts('abc'), *self.hosts('def', cell_uuid=base.CELL2)]
        outcome = self.select(base.make_request(), states)
        ((choice,), (others,)) = outcome.chosen.values(), outcome.alternates.values()
        self.assertEqual(
            {choice.host.cell_uuid}, {alternate.host.cell_uuid for alternate in others}
        )
        self.assertEqual(2, len(others))

    def test_none_that_another_server_of_the_batch_got(self):
        states = [base.make_host(name) for name in 'abcd']
        outcome = self.select(base.make_request(count=2), states)
        taken = {choice.host.host for choice in outcome.chosen.values()}
        for others in outcome.alternates.values():
            self.assertEqual(set('abcd') - taken, {choice.host.host for choice in others})

    def test_they_can_be_claimed(self):
        outcome = self.select(base.make_request(), self.hosts())
        (others,) = outcome.alternates.values()
        for choice in others:
            self.assertEqual({choice.host.uuid}, set(choice.request['allocations']))

    def placed(self, held=(), **values):
        """The outcome of a request for one of two devices, as (its states, devices, Outcome).

        held: numbers of the devices that guests hold; values: of the request spec
        """
        devices = [
            pci.Device(f'0000:0{number}:00.0', '10de', '2330', resource_class='CUSTOM_GPU')
            for number in range(2)
        ]
        part = topology.Held((), 'x', tuple(('gpu', devices[number].address) for number in held))
        numa = {
            'host': topology.Host((), devices=tuple(devices)).to_dict(),
            'guests': {'guest': [part.to_dict()]},
        }
        states = [base.make_host(name, numa=numa) for name in 'ab']
        answer = base.make_answer(states)
        answer['allocation_requests'] = [
            {
                'allocations': {
                    **each['allocations'],
                    runtime.uuid_of(state.uuid, device.address): {'resources': {'CUSTOM_GPU': 1}},
                }
            }
            for state, each in zip(states, answer['allocation_requests'], strict=True)
            for device in devices
        ]
        spec = base.make_spec(**values)
        alias = {'name': 'gpu', 'count': 1, 'numa_policy': 'legacy'}
        spec.flavor.devices = [{**alias, 'specs': [{'resource_class': 'CUSTOM_GPU'}]}]
        tried = []

        def claim(_uuid, host, wanted):
            tried.append(
                next(
                    number
                    for number, device in enumerate(devices)
                    if runtime.uuid_of(host.uuid, device.address) in wanted['allocations']
                )
            )
            return not values or len(tried) == 2

        outcome = select.select(
            base.make_request(spec, placed_devices=True),
            states,
            candidates.Candidates(answer),
            manager.rules(self.conf),
            claim=claim,
            rng=runtime.seeded_random(1),
        )
        return devices, tried, outcome

    def test_devices_that_guests_hold(self):
        """A claim of a device that a guest holds already would be refused by the host."""
        devices, _tried, outcome = self.placed(held=[0])
        for choice in (*outcome.chosen.values(), *next(iter(outcome.alternates.values()))):
            free = runtime.uuid_of(choice.host.uuid, devices[1].address)
            self.assertIn(free, choice.request['allocations'], choice.host)
        self.assertEqual(1, len(next(iter(outcome.alternates.values()))))
        self.assertEqual({}, self.placed(held=[0, 1])[2].chosen)

    def test_devices_of_a_forced_host(self):
        """All candidates are tried, those with free devices first."""
        for held in ([0], [0, 1]):
            _devices, tried, outcome = self.placed(held=held, force_hosts=['b'])
            self.assertEqual([1, 0] if held == [0] else [0, 1], tried)
            self.assertEqual(['b'], [each.host.host for each in outcome.chosen.values()])


class RebuildTest(SelectTestCase):
    def test_only_filters_for_rebuilds_without_placement(self):
        spec = base.make_spec(image_properties={'hw_architecture': 'x86_64'}, check_type='rebuild')
        for state, expected in (
            (base.make_host('a', up=False), ['a']),
            (base.make_host('a', supported_instances=()), []),
        ):
            outcome = select.select(
                base.make_request(spec),
                [state],
                None,
                manager.rules(self.conf),
                claim=lambda *_: True,
                rng=runtime.seeded_random(1),
            )
            self.assertEqual(expected, [choice.host.host for choice in outcome.chosen.values()])
