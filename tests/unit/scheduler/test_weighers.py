"""Every weigher, and how their weights are put together."""

import collections

from nova_lite import exception
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler import weighers
from tests.unit.scheduler import base

GROUP = base.uuid_of('group')


class WeigherTestCase(base.SchedulerTestCase):
    def only(self, name, **options):
        """The one weigher of that name."""
        self.set('filter_scheduler', weight_classes=[name], **options)
        return weighers.load(self.conf)

    def order(self, name, states, wanted=None, **options):
        """Names of hosts, best first."""
        weights = weighers.weigh(states, self.only(name, **options), wanted or base.make_request())
        ranked = sorted(zip(weights.sums, states, strict=True), key=lambda pair: -pair[0])
        return [state.host for _weight, state in ranked]


class LoadTest(base.SchedulerTestCase):
    def test_all(self):
        self.assertEqual(set(weighers.known()), {one.name for one in weighers.load(self.conf)})

    def test_unknown(self):
        self.set('filter_scheduler', weight_classes=['GoldWeigher'])
        error = self.assertRaises(ValueError, weighers.load, self.conf)
        self.assertIn('unknown GoldWeigher', str(error))


class WeighTest(WeigherTestCase):
    def weights(self, states, *found):
        return weighers.weigh(states, found, base.make_request()).sums

    def test_scale_begins_at_nothing_free(self):
        states = [base.make_host('a', memory_mb=4000), base.make_host('b', memory_mb=2000)]
        self.assertEqual([1.0, 0.5], self.weights(states, *self.only('RAMWeigher')))

    def test_scale_of_what_has_no_natural_end(self):
        states = [
            base.make_host('a', hypervisor_version=3),
            base.make_host('b', hypervisor_version=2),
            base.make_host('c', hypervisor_version=1),
        ]
        found = self.only('HypervisorVersionWeigher')
        self.assertEqual([1.0, 0.5, 0.0], self.weights(states, *found))

    def test_equal_hosts_weigh_the_same(self):
        states = [base.make_host('a'), base.make_host('b')]
        first, second = self.weights(states, *weighers.load(self.conf))
        self.assertEqual(first, second)

    def test_more_used_than_there_is_counts_as_none_free(self):
        states = [
            base.make_host('a', memory_mb_used=99999),
            base.make_host('b', memory_mb_used=16 * base.GIB),
        ]
        self.assertEqual([0.0, 0.0], self.weights(states, *self.only('RAMWeigher')))

    def test_multiplier(self):
        states = [base.make_host('a', memory_mb=4000), base.make_host('b', memory_mb=2000)]
        found = self.only('RAMWeigher', ram_weight_multiplier=-2.0)
        self.assertEqual([-2.0, -1.0], self.weights(states, *found))

    def test_multiplier_of_an_aggregate(self):
        states = [
            base.make_host('a', memory_mb=4000, metadata={'ram_weight_multiplier': '10'}),
            base.make_host('b', memory_mb=2000),
        ]
        states[0].metadata['ram_weight_multiplier'] |= {'3', 'nonsense'}
        self.assertEqual([3.0, 0.5], self.weights(states, *self.only('RAMWeigher')))

    def test_multiplier_of_an_aggregate_revives_a_weigher(self):
        states = [
            base.make_host('a', num_instances=1),
            base.make_host('b', metadata={'num_instances_weight_multiplier': 'x'}),
        ]
        found = self.only('NumInstancesWeigher')
        self.assertEqual([0.0, 0.0], self.weights(states, *found))
        states[0].metadata = {'num_instances_weight_multiplier': frozenset(['2'])}
        self.assertEqual([2.0, 0.0], self.weights(states, *found))

    def test_sum(self):
        states = [
            base.make_host('a', memory_mb=4000, num_io_ops=4),
            base.make_host('b', memory_mb=2000, num_io_ops=1),
        ]
        self.set('filter_scheduler', weight_classes=['RAMWeigher', 'IoOpsWeigher'])
        self.assertEqual([0.0, 0.25], self.weights(states, *weighers.load(self.conf)))

    def test_parts(self):
        states = [
            base.make_host('a', memory_mb=4000, num_io_ops=4),
            base.make_host('b', memory_mb=2000, num_io_ops=1),
        ]
        names = ['RAMWeigher', 'IoOpsWeigher', 'HypervisorVersionWeigher']
        self.set('filter_scheduler', weight_classes=names)
        found = weighers.weigh(states, weighers.load(self.conf), base.make_request())
        self.assertEqual({'RAMWeigher': 1.0, 'IoOpsWeigher': -1.0}, found.of(0))
        self.assertEqual({'RAMWeigher': 0.5, 'IoOpsWeigher': -0.25}, found.of(1))


class ResourceWeighersTest(WeigherTestCase):
    def test_more_is_better(self):
        for name, less, more in (
            ('RAMWeigher', {'memory_mb_used': 100}, {}),
            ('RAMWeigher', {'reserved_memory_mb': 100}, {}),
            ('CPUWeigher', {'vcpus_used': 1}, {}),
            ('CPUWeigher', {}, {'cpu_allocation_ratio': 4.0}),
            ('DiskWeigher', {'local_gb_used': 1}, {}),
            ('HypervisorVersionWeigher', {}, {'hypervisor_version': 9000000}),
            ('IoOpsWeigher', {'num_io_ops': 1}, {}),
            ('BuildFailureWeigher', {'failed_builds': 1}, {}),
        ):
            with self.subTest(name=name, less=less, more=more):
                states = [base.make_host('less', **less), base.make_host('more', **more)]
                self.assertEqual(['more', 'less'], self.order(name, states))

    def test_number_of_servers(self):
        states = [base.make_host('few', num_instances=1), base.make_host('many', num_instances=2)]
        name, option = 'NumInstancesWeigher', 'num_instances_weight_multiplier'
        self.assertEqual(['few', 'many'], self.order(name, states))
        self.assertEqual(['many', 'few'], self.order(name, states, **{option: 1.0}))

    def test_metrics(self):
        states = [
            base.make_host('none'),
            base.make_host('hot', metrics={'heat': 90, 'noise': 1}),
            base.make_host('cool', metrics={'heat': 20, 'noise': 9}),
        ]
        self.assertEqual(['none', 'hot', 'cool'], self.order('MetricsWeigher', states))
        self.set('metrics', weight_setting={'heat': -1.0, 'noise': 0.1})
        error = self.assertRaises(
            exception.ComputeHostMetricNotFound, self.order, 'MetricsWeigher', states
        )
        self.assertEqual(
            'Metric heat could not be found on the compute host node none.none.', error.message
        )
        self.assertEqual(['cool', 'hot'], self.order('MetricsWeigher', states[1:]))
        self.set('metrics', required=False)
        self.assertEqual(['cool', 'hot', 'none'], self.order('MetricsWeigher', states))
        self.set('metrics', weight_multiplier=-1.0)
        self.assertEqual(['none', 'hot', 'cool'], self.order('MetricsWeigher', states))


class RelationWeighersTest(WeigherTestCase):
    def wanted(self, policy):
        group = scheduling_request.Group(GROUP, policy, collections.Counter({'b': 2, 'c': 1}))
        return base.make_request(group=group)

    def test_soft_policies(self):
        states = [base.make_host(name) for name in 'abc']
        for name, policy, expected in (
            ('ServerGroupSoftAffinityWeigher', 'soft-affinity', ['b', 'c', 'a']),
            ('ServerGroupSoftAntiAffinityWeigher', 'soft-anti-affinity', ['a', 'c', 'b']),
            ('ServerGroupSoftAffinityWeigher', 'soft-anti-affinity', ['a', 'b', 'c']),
            ('ServerGroupSoftAntiAffinityWeigher', 'affinity', ['a', 'b', 'c']),
        ):
            with self.subTest(name=name, policy=policy):
                self.assertEqual(expected, self.order(name, states, self.wanted(policy)))

    def test_cross_cell(self):
        name = 'CrossCellWeigher'
        states = [
            base.make_host('there', cell_uuid=base.CELL2),
            base.make_host('here', cell_uuid=base.CELL1),
        ]
        spec = base.make_spec()
        self.assertEqual(['there', 'here'], self.order(name, states, base.make_request(spec)))
        spec.destination().cell = base.CELL1
        self.assertEqual(['there', 'here'], self.order(name, states, base.make_request(spec)))
        spec.destination().allow_cross_cell_move = True
        self.assertEqual(['here', 'there'], self.order(name, states, base.make_request(spec)))
        option = {'cross_cell_move_weight_multiplier': -1.0}
        self.assertEqual(
            ['there', 'here'], self.order(name, states, base.make_request(spec), **option)
        )

    def test_image_properties(self):
        name = 'ImagePropertiesWeigher'
        option = {'image_props_weight_multiplier': 1.0}
        states = [
            base.make_host('few', image_properties={('os_distro', 'windows'): 1}),
            base.make_host('many', image_properties={('os_distro', 'windows'): 3}),
            base.make_host('other', image_properties={('os_type', 'linux'): 2}),
        ]
        wanted = base.make_request(
            base.make_spec(image_properties={'os_distro': 'windows', 'os_type': 'linux'})
        )
        self.assertEqual(['few', 'many', 'other'], self.order(name, states, wanted))
        self.assertEqual(['many', 'other', 'few'], self.order(name, states, wanted, **option))
        option['image_props_weight_setting'] = {'os_type': 1.0}
        self.assertEqual(['other', 'few', 'many'], self.order(name, states, wanted, **option))
