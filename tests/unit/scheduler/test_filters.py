"""Every filter: what passes and what is refused."""

import collections
import json

from nova_lite import exception
from nova_lite.scheduler import filters
from nova_lite.scheduler import scheduling_request
from tests.unit.scheduler import base

SERVER = base.uuid_of('server')


class FilterTestCase(base.SchedulerTestCase):
    def filter(self, name):
        return filters.known()[name](self.conf)

    def refusal(self, name, host, wanted=None):
        """The reason for which a filter refuses a host, or None."""
        rule = self.filter(name).rule(wanted or base.make_request())
        return None if rule is None else rule(host)

    def passes(self, name, host, wanted=None):
        self.assertIsNone(self.refusal(name, host, wanted))

    def refuses(self, name, host, wanted=None, because=''):
        reason = self.refusal(name, host, wanted)
        self.assertIsNotNone(reason)
        self.assertIn(because, reason)

    def wanted(self, extra_specs=None, properties=None, **values):
        return base.make_request(base.make_spec(extra_specs, properties, **values))


class LoadTest(base.SchedulerTestCase):
    def test_defaults(self):
        names = [one.name for one in filters.load(self.conf)]
        self.assertEqual(self.conf.filter_scheduler.enabled_filters, names)

    def test_all_known_can_be_loaded(self):
        self.set('filter_scheduler', enabled_filters=sorted(filters.known()))
        self.assertEqual(len(filters.known()), len(filters.load(self.conf)))

    def test_unknown(self):
        self.set('filter_scheduler', enabled_filters=['ComputeFilter', 'NoFilter'])
        error = self.assertRaises(ValueError, filters.load, self.conf)
        self.assertIn('unknown NoFilter', str(error))

    def test_those_that_run_for_a_rebuild(self):
        found = {name for name, one in filters.known().items() if one.on_rebuild}
        self.assertEqual(
            {
                'ImagePropertiesFilter',
                'AggregateImagePropertiesIsolation',
                'IsolatedHostsFilter',
            },
            found,
        )


class ServiceFiltersTest(FilterTestCase):
    def test_all_hosts(self):
        self.passes('AllHostsFilter', base.make_host(up=False))

    def test_compute(self):
        self.passes('ComputeFilter', base.make_host())
        self.refuses('ComputeFilter', base.make_host(up=False), because='down')
        disabled = base.make_host(disabled=True, disabled_reason='broken fan')
        self.refuses('ComputeFilter', disabled, because='broken fan')

    def test_io_ops(self):
        self.passes('IoOpsFilter', base.make_host(num_io_ops=7))
        self.refuses('IoOpsFilter', base.make_host(num_io_ops=8), because='at most 8')

    def test_io_ops_of_an_aggregate(self):
        def host(busy, limit):
            return base.make_host(num_io_ops=busy, metadata={'max_io_ops_per_host': limit})

        self.passes('AggregateIoOpsFilter', host(1, '2'))
        self.refuses('AggregateIoOpsFilter', host(2, '2'), because='at most 2')
        self.passes('AggregateIoOpsFilter', host(2, 'nonsense'))
        several = base.make_host(num_io_ops=3)
        several.metadata = {'max_io_ops_per_host': frozenset(['3', '30'])}
        self.refuses('AggregateIoOpsFilter', several, because='at most 3')

    def test_num_instances(self):
        self.passes('NumInstancesFilter', base.make_host(num_instances=49))
        self.refuses('NumInstancesFilter', base.make_host(num_instances=50), because='at most 50')

    def test_num_instances_of_an_aggregate(self):
        host = base.make_host(num_instances=2, metadata={'max_instances_per_host': '2'})
        self.refuses('AggregateNumInstancesFilter', host, because='at most 2')
        self.passes('AggregateNumInstancesFilter', base.make_host(num_instances=2))

    def test_metrics(self):
        self.passes('MetricsFilter', base.make_host())
        self.set('metrics', weight_setting={'cpu.heat': 1.0, 'noise': -1.0})
        self.passes('MetricsFilter', base.make_host(metrics={'cpu.heat': 1, 'noise': 0}))
        self.refuses('MetricsFilter', base.make_host(metrics={'noise': 0}), because='cpu.heat')


class CapabilitiesFilterTest(FilterTestCase):
    name = 'ComputeCapabilitiesFilter'

    def test_table(self):
        host = base.make_host(
            cpu_info={'arch': 'x86_64', 'topology': {'cores': 8}, 'features': ['avx', 'sse']},
            stats={'rack': 'r7', 'deep': json.dumps({'inner': 1})},
        )
        for extra_specs, passes in (
            ({}, True),
            ({'capabilities:hypervisor_type': 'QEMU'}, True),
            ({'capabilities:hypervisor_type': 'Xen'}, False),
            ({'capabilities:hypervisor_type': 's== QEMU'}, True),
            ({'capabilities:hypervisor_version': '>= 8000000'}, True),
            ({'capabilities:hypervisor_version': '>= 9000000'}, False),
            ({'capabilities:cpu_info:topology:cores': '= 4'}, True),
            ({'capabilities:cpu_info:topology:cores': '= 16'}, False),
            ({'capabilities:cpu_info:topology:threads': '1'}, False),
            ({'capabilities:cpu_info:features': '<in> avx'}, True),
            ({'capabilities:cpu_info:features': '<all-in> avx neon'}, False),
            ({'capabilities:nonsense': '1'}, False),
            ({'capabilities:rack': 'r7'}, True),
            ({'capabilities:deep:inner': '1'}, True),
            ({'capabilities:rack:inner': '1'}, False),
            ({'rack': 'r7'}, True),
            ({'rack': 'r8'}, False),
            ({'free_ram_mb': '>= 1'}, True),
            ({'free_ram_mb': '>= 999999'}, False),
            ({'nonsense': '1'}, True),
            ({'with_server': '1', 'mapped': 'x'}, True),
            ({'trait:CUSTOM_X': 'required', 'hw:cpu_policy': 'shared'}, True),
        ):
            with self.subTest(extra_specs=extra_specs):
                reason = self.refusal(self.name, host, self.wanted(extra_specs))
                self.assertEqual(passes, reason is None)

    def test_address_bits(self):
        for cpu_info, bits, passes in (
            ({'maxphysaddr': {'mode': 'emulate', 'bits': 40}}, '40', True),
            ({'maxphysaddr': {'bits': 40}}, '41', False),
            ({'maxphysaddr': {'bits': 40}}, 'x', False),
            ({}, '32', False),
        ):
            for mode in ({}, {'hw:maxphysaddr_mode': 'passthrough'}):
                with self.subTest((cpu_info, bits, mode)):
                    wanted = self.wanted({'hw:maxphysaddr_bits': bits, **mode})
                    reason = self.refusal(self.name, base.make_host(cpu_info=cpu_info), wanted)
                    self.assertEqual(passes, reason is None)


class ImagePropertiesFilterTest(FilterTestCase):
    name = 'ImagePropertiesFilter'

    def test_default_architecture(self):
        self.set('filter_scheduler', image_properties_default_architecture='aarch64')
        host = base.make_host(supported_instances=(('x86_64', 'kvm', 'hvm'),))
        arm = base.make_host(supported_instances=(('aarch64', 'kvm', 'hvm'),))
        asked, stated = (
            self.wanted(properties=properties) for properties in ({}, {'hw_architecture': 'x86_64'})
        )
        self.refuses(self.name, host, asked, because='does not support guests of aarch64')
        self.passes(self.name, arm, asked)
        self.passes(self.name, host, stated)

    def test_table(self):
        host = base.make_host(
            supported_instances=(('x86_64', 'kvm', 'hvm'), ('i686', 'qemu', 'hvm')),
            cpu_info={'maxphysaddr': {'bits': 40}},
        )
        for properties, passes in (
            ({}, True),
            ({'hw_architecture': 'x86_64'}, True),
            ({'hw_architecture': 'aarch64'}, False),
            ({'hw_architecture': 'i686', 'img_hv_type': 'qemu'}, True),
            ({'hw_architecture': 'i686', 'img_hv_type': 'kvm'}, False),
            ({'hw_vm_mode': 'hvm'}, True),
            ({'hw_vm_mode': 'xen'}, False),
            ({'hw_vm_mode': 'HV'}, True),
            ({'vm_mode': 'pv'}, False),
            ({'architecture': 'amd64', 'hypervisor_type': 'KVM'}, True),
            ({'architecture': 'aarch64'}, False),
            ({'architecture': 'aarch64', 'hw_architecture': 'x86_64'}, True),
            ({'hypervisor_type': 'xapi'}, False),
            ({'hypervisor_version_requires': '>=9999'}, False),
            ({'img_hv_requested_version': '>=8.0'}, True),
            ({'img_hv_requested_version': '>=8.0,<8.2'}, False),
            ({'img_hv_requested_version': '8.2.2'}, True),
            ({'img_hv_requested_version': '!=8.2.2'}, False),
            ({'img_hv_requested_version': 'newest'}, False),
            ({'hw_maxphysaddr_bits': '40'}, True),
            ({'hw_maxphysaddr_bits': '41'}, False),
        ):
            with self.subTest(properties=properties):
                reason = self.refusal(self.name, host, self.wanted(properties=properties))
                self.assertEqual(passes, reason is None)

    def test_a_host_that_does_not_report_address_bits(self):
        self.passes(
            self.name, base.make_host(), self.wanted(properties={'hw_maxphysaddr_bits': '64'})
        )

    def test_a_host_that_supports_nothing(self):
        host = base.make_host(supported_instances=())
        self.passes(self.name, host)
        wanted = self.wanted(properties={'hw_architecture': 'x86_64'})
        self.refuses(self.name, host, wanted, because='x86_64')


class AggregateFiltersTest(FilterTestCase):
    def test_extra_specs(self):
        name = 'AggregateInstanceExtraSpecsFilter'
        host = base.make_host(metadata={'ssd': 'true', 'cpus': '8', 'tier': 'gold, silver'})
        for extra_specs, passes in (
            ({}, True),
            ({'ssd': 'true'}, True),
            ({'ssd': 'false'}, False),
            ({'aggregate_instance_extra_specs:ssd': 'true'}, True),
            ({'aggregate_instance_extra_specs:ssd': 'no'}, False),
            ({'aggregate_instance_extra_specs:cpus': '>= 4'}, True),
            ({'tier': 'silver'}, True),
            ({'tier': 'bronze'}, False),
            ({'absent': 'x'}, False),
            ({'hw:cpu_policy': 'shared'}, True),
        ):
            with self.subTest(extra_specs=extra_specs):
                reason = self.refusal(name, host, self.wanted(extra_specs))
                self.assertEqual(passes, reason is None)
        self.refuses(name, base.make_host(), self.wanted({'ssd': 'true'}))

    def test_image_properties(self):
        name = 'AggregateImagePropertiesIsolation'
        host = base.make_host(metadata={'os_distro': 'windows, solaris'})
        self.passes(name, host, self.wanted(properties={'os_distro': 'windows'}))
        self.passes(name, host, self.wanted(properties={'os_type': 'linux'}))
        self.passes(name, base.make_host(), self.wanted(properties={'os_distro': 'linux'}))
        linux = self.wanted(properties={'os_distro': 'linux'})
        self.refuses(name, host, linux, because='os_distro')
        host = base.make_host(metadata={'hw_architecture': 'x86_64'})
        for former, passes in (('AMD64', True), ('aarch64', False)):
            reason = self.refusal(name, host, self.wanted(properties={'architecture': former}))
            self.assertEqual(passes, reason is None, former)
        self.set('filter_scheduler', aggregate_image_properties_isolation_namespace='os')
        self.passes(name, host, linux)

    def test_tenants(self):
        name = 'AggregateMultiTenancyIsolation'
        self.passes(name, base.make_host())
        self.passes(name, base.make_host(metadata={'filter_tenant_id': 'wonderland'}))
        self.passes(name, base.make_host(metadata={'filter_tenant_id2': 'oz, wonderland'}))
        self.refuses(name, base.make_host(metadata={'filter_tenant_id': 'oz'}))

    def test_flavors(self):
        name = 'AggregateTypeAffinityFilter'
        self.passes(name, base.make_host())
        self.passes(name, base.make_host(metadata={'instance_type': 'large, tiny'}))
        host = base.make_host(metadata={'instance_type': 'large'})
        self.refuses(name, host, because='large')

    def test_isolated_hosts(self):
        name = 'IsolatedHostsFilter'
        plain, isolated = base.make_host('plain'), base.make_host('isolated')
        ordinary = base.make_request()
        special = self.wanted(image=base.make_image(id=SERVER))
        self.passes(name, isolated, ordinary)
        self.set('filter_scheduler', isolated_hosts=['isolated'])
        self.refuses(name, isolated, ordinary, because='isolated images')
        self.set('filter_scheduler', isolated_images=[SERVER])
        self.passes(name, isolated, special)
        self.passes(name, plain, ordinary)
        self.refuses(name, plain, special, because='isolated hosts')
        self.refuses(name, isolated, ordinary)
        self.set('filter_scheduler', restrict_isolated_hosts_to_isolated_images=False)
        self.passes(name, isolated, ordinary)
        self.refuses(name, plain, special)


class GroupFiltersTest(FilterTestCase):
    def wanted(self, policy, members_on=None, *, limit=1, **values):
        group = scheduling_request.Group(
            base.uuid_of('group'), policy, collections.Counter(members_on or {}), limit
        )
        return base.make_request(base.make_spec(**values), group=group)

    def test_anti_affinity(self):
        name = 'ServerGroupAntiAffinityFilter'
        host = base.make_host('a')
        self.passes(name, host)
        self.passes(name, host, self.wanted('anti-affinity', {'b': 1}))
        self.passes(name, host, self.wanted('affinity', {'a': 1}))
        self.passes(name, host, self.wanted('anti-affinity', {'a': 1}, limit=2))
        self.refuses(name, host, self.wanted('anti-affinity', {'a': 2}, limit=2))
        self.refuses(name, host, self.wanted('anti-affinity', {'a': 1}), because='at most 1')

    def test_anti_affinity_lets_a_server_stay(self):
        wanted = self.wanted('anti-affinity', {'a': 1}, current_host='a')
        self.passes('ServerGroupAntiAffinityFilter', base.make_host('a'), wanted)

    def test_affinity(self):
        name = 'ServerGroupAffinityFilter'
        host = base.make_host('a')
        self.passes(name, host)
        self.passes(name, host, self.wanted('affinity'))
        self.passes(name, host, self.wanted('affinity', {'a': 1}))
        self.passes(name, host, self.wanted('soft-affinity', {'b': 1}))
        self.refuses(name, host, self.wanted('affinity', {'b': 1}), because='is on b')


class HintFiltersTest(FilterTestCase):
    def wanted(self, hints, hosts_of=None):
        return base.make_request(base.make_spec(scheduler_hints=hints), hosts_of=hosts_of)

    def test_same_host(self):
        name = 'SameHostFilter'
        host = base.make_host('a')
        self.passes(name, host)
        self.passes(name, host, self.wanted({'same_host': [SERVER]}, {SERVER: {'a'}}))
        self.refuses(name, host, self.wanted({'same_host': [SERVER]}, {SERVER: {'b'}}))
        self.refuses(name, host, self.wanted({'same_host': [SERVER]}))

    def test_different_host(self):
        name = 'DifferentHostFilter'
        host = base.make_host('a')
        self.passes(name, host)
        self.passes(name, host, self.wanted({'different_host': [SERVER]}))
        self.passes(name, host, self.wanted({'different_host': [SERVER]}, {SERVER: {'b'}}))
        self.refuses(name, host, self.wanted({'different_host': [SERVER]}, {SERVER: {'a'}}))

    def test_cidr(self):
        name = 'SimpleCIDRAffinityFilter'
        host = base.make_host(host_ip='10.1.2.3')
        self.passes(name, host)
        self.passes(name, host, self.wanted({'cidr': ['/8']}))
        self.passes(name, host, self.wanted({'build_near_host_ip': ['10.1.2.9']}))
        self.refuses(name, host, self.wanted({'build_near_host_ip': ['10.1.3.9']}))
        near = {'build_near_host_ip': ['10.1.3.9'], 'cidr': ['/16']}
        self.passes(name, host, self.wanted(near))
        self.refuses(name, base.make_host(), self.wanted(near))
        self.assertRaises(
            exception.RequestFilterFailed,
            self.refusal,
            name,
            host,
            self.wanted({'build_near_host_ip': ['here']}),
        )

    def test_json(self):
        host = base.make_host(vcpus_total=8, stats={'rack': 'r7', 'more': {'inner': 3}})
        for query, passes in (
            (['=', '$hypervisor_type', 'QEMU'], True),
            (['=', '$hypervisor_type', 'Xen'], False),
            (['>=', '$free_ram_mb', 1024], True),
            (['<', '$free_ram_mb', 1024], False),
            (['in', '$rack', 'r6', 'r7'], True),
            (['in', '$rack', 'r6'], False),
            (['and', ['>', '$vcpus_total', 4], ['<=', '$vcpus_total', 8]], True),
            (['or', ['>', '$vcpus_total', 40], ['=', '$vcpus_total', 8]], True),
            (['not', ['=', '$vcpus_total', 8]], False),
            (['=', '$more.inner', 3], True),
            (['=', '$more.inner.deeper', 3], False),
            (['=', '$uuid', 'x'], False),
            (['=', 1], False),
            ([], True),
            (['nonsense', 1], False),
            (['<', '$rack', 1], False),
            ([['=', 1, 1]], False),
        ):
            with self.subTest(query=query):
                wanted = self.wanted({'query': [json.dumps(query)]})
                self.assertEqual(passes, self.refusal('JsonFilter', host, wanted) is None)
        self.passes('JsonFilter', host)
        self.assertRaises(
            exception.RequestFilterFailed,
            self.refusal,
            'JsonFilter',
            host,
            self.wanted({'query': ['{']}),
        )
