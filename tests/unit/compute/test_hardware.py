"""Hardware: the CPUs of nodes by the profile and by nova's options."""

import fixtures
import testtools

from nova_lite import conf as nova_conf
from nova_lite.compute import device_allocations
from nova_lite.compute import device_spec
from nova_lite.compute import hardware
from nova_lite.compute import mdev_types
from nova_lite.virt import model
from nova_lite.virt import topology
from nova_lite.virt.sim import driver as sim_driver
from nova_lite.virt.sim import profile

GPU = """
    hosts: [{pci: [{vendor_id: '10de', product_id: '25b6', mdev_types: [
      {name: a, count: 2, traits: [CUSTOM_A]}, {name: b, count: 1, traits: [CUSTOM_B]}]}]}]
"""


class HardwareTest(testtools.TestCase):
    def driver(self, text):
        path = f'{self.useFixture(fixtures.TempDir()).path}/guests.sqlite'
        driver = sim_driver.SimDriver(path, ['node'], profile.parse(text))
        self.addCleanup(driver.close)
        return driver

    def hardware(self, text, **options):
        driver = options.pop('driver', None) or self.driver(text)
        conf = nova_conf.make_conf(files=[])
        conf.set_override('device_spec', options.pop('device_spec', []), group='pci')
        conf.set_override('report_in_placement', options.pop('placed', False), group='pci')
        conf.set_override('reserved_huge_pages', options.pop('reserved_huge_pages', []))
        conf.set_override('enabled_mdev_types', options.pop('types', None), group='devices')
        for name, value in options.items():
            conf.set_override(name, value, group='compute')
        made = hardware.Hardware(driver, conf)
        made.check('node')
        return made

    def test_a_virtual_gpu_of_a_guest_stays_offered(self):
        driver = self.driver(GPU)
        offered = self.hardware('', driver=driver, types=['a']).placed('node')
        numa = topology.Held((), devices=(('gpu', offered[0].address),))
        size = {'flavor': 'f', 'vcpus': 1, 'memory_mb': 1, 'disk_gb': 1}
        driver.spawn('node', model.GuestSpec('guest', 'g', numa=numa, **size), key='k')
        self.hardware('', driver=driver, types=['a', 'b'])
        for types in (['b'], []):
            error = self.assertRaises(
                mdev_types.InvalidLibvirtMdevConfig, self.hardware, '', driver=driver, types=types
            )
            self.assertIn('server guest has virtual GPU', str(error))

    def test_traits_of_types(self):
        made = self.hardware(GPU, types=['b'])
        known = made.traits_of_types('node')
        (found,) = device_allocations.nested_providers(made.placed('node'), known)
        self.assertEqual(({'CUSTOM_B'}, {'CUSTOM_A'}), (found.traits, found.not_traits))

    def test_nodes_that_only_have_a_number_are_even(self):
        made = self.hardware(
            'hosts: [{numa_nodes: 3, capacity: {vcpus: 8, memory_mb: 1000, disk_gb: 1}}]'
        )
        found = made.nodes('node').nodes
        self.assertEqual([2, 3, 3], [len(node.shared) for node in found])
        self.assertEqual([333, 333, 334], [node.memory_mb for node in found])
        self.assertEqual(frozenset(range(8)), made.nodes('node').cpus)
        self.assertEqual({'VCPU', 'MEMORY_MB', 'DISK_GB'}, made.inventory('node').keys())

    def test_nodes_of_the_nfv_profile(self):
        host = self.hardware('extends: nfv').nodes('node')
        self.assertEqual((8, 56), (host.shared, host.dedicated))
        first = host.nodes[0]
        self.assertEqual((0, 32), first.cores[0])
        self.assertEqual((2, 34), first.dedicated_cores[0])
        self.assertEqual([4, 2048, 1048576], [pages.size_kb for pages in first.pages])
        small, *_large = first.pages
        self.assertEqual(131072 // 2 * 256, small.total)
        self.assertEqual(host, topology.Host.from_dict(host.to_dict()))

    def test_reserved_pages(self):
        entries = (
            {'node': '0', 'size': '2048', 'count': '64'},
            {'node': '1', 'size': '1GB', 'count': '1'},
            {'node': '7', 'size': '4', 'count': '1'},
        )
        before = self.hardware('extends: nfv').nodes('node')
        found = self.hardware('extends: nfv', reserved_huge_pages=entries).nodes('node')
        self.assertEqual((before.shared, before.dedicated), (found.shared, found.dedicated))
        self.assertEqual(
            [[0, 64, 2], [0, 0, 1]],
            [[pages.reserved for pages in node.pages] for node in found.nodes],
        )
        for name, value in (('size', 'big'), ('count', '-1'), ('node', 'x'), ('more', '1')):
            error = hardware.InvalidReservedMemoryPagesOption
            bad = [{**entries[0], name: value}]
            self.assertRaises(error, self.hardware, '', reserved_huge_pages=bad)

    def test_an_empty_set_is_unset(self):
        made = self.hardware('extends: nfv', cpu_shared_set='', cpu_dedicated_set='')
        self.assertEqual((8, 56), (made.nodes('node').shared, made.nodes('node').dedicated))

    def test_devices_in_placement(self):
        card = """
            hosts: [{pci: [{vendor_id: '15b3', product_id: '1021', dev_type: type-PF, functions:
              {count: 2, product_id: '101e'}}, {vendor_id: '10de', product_id: '2330'}]}]
        """
        self.assertEqual((), self.hardware(card).placed('node'))
        self.assertRaises(hardware.InvalidPlacement, self.hardware, card, placed=True)
        gpu, card_only, functions = (
            '{"vendor_id": "10de"}', '{"product_id": "1021"}', '{"product_id": "101e"}'
        )  # fmt: skip
        for lines, expected in (([gpu, card_only], [1, 1]), ([gpu, functions], [2, 1])):
            made = self.hardware(card, placed=True, device_spec=lines)
            found = device_allocations.nested_providers(made.placed('node'))
            totals = [total['total'] for each in found for total in each.inventories.values()]
            self.assertEqual(expected, totals)
        named = self.hardware(card, device_spec=['{"vendor_id": "10de", "resource_class": "gpu"}'])
        self.assertEqual((), named.placed('node'))
        self.assertEqual('CUSTOM_GPU', named.nodes('node').devices[0].resource_class)
        once = '{"vendor_id": "%s", "one_time_use": "yes"}'
        (provider,) = device_allocations.nested_providers(
            self.hardware(card, placed=True, device_spec=[once % '10de']).placed('node')
        )
        self.assertIn('HW_PCI_ONE_TIME_USE', provider.traits)
        self.assertTrue(provider.keeps_reserved)
        for vendor, placed, kind in (
            ('10de', False, device_spec.PciConfigInvalidSpec),
            ('8086', False, device_spec.PciConfigInvalidSpec),
            ('15b3', True, hardware.InvalidPlacement),
        ):
            lines = [once % vendor]
            refused = self.assertRaises(kind, self.hardware, card, placed=placed, device_spec=lines)
            self.assertIn('one_time_use needs', str(refused))
        first = '{"address": "0000:20:01.0", "traits": "a"}'
        self.assertRaises(
            hardware.InvalidPlacement, self.hardware, card, placed=True,
            device_spec=[first, functions],
        )  # fmt: skip

    def test_devices_with_network_interfaces(self):
        card = """
            hosts: [{pci: [{vendor_id: '15b3', product_id: '1021', dev_type: type-PF, devname: ens1,
              functions: {count: 2, product_id: '101e'}}]}]
        """
        for name, total in (('ens1', 3), ('ens1v1', 1), ('ens2', 0)):
            made = self.hardware(card, device_spec=[f'{{"devname": "{name}"}}'])
            self.assertEqual(total, len(made.nodes('node').devices))
        for name, placed, key in (('ens2', False, 'remote_managed'), ('ens1', True, 'trusted')):
            self.assertRaises(
                device_spec.PciConfigInvalidSpec, self.hardware, card, placed=placed,
                device_spec=[f'{{"devname": "{name}", "{key}": "yes"}}'],
            )  # fmt: skip

    def test_devices(self):
        made = self.hardware('extends: gpu')
        self.assertEqual(25, len(made.nodes('node').devices))
        self.assertEqual(2, len(made.nodes('node').nodes))
        host = made.nodes('node')
        self.assertEqual(host, topology.Host.from_dict(host.to_dict()))
        # One value, so that what it has worked out is kept.
        self.assertIs(host, made.nodes('node'))
        functions = self.hardware('extends: gpu', device_spec=['{"product_id": "101e"}'])
        self.assertEqual(16, len(functions.nodes('node').devices))
        self.assertTrue(functions.is_described('node'))
        text = "hosts: [{pci: [{vendor_id: '10de', product_id: '2330', numa_node: %s}]}]"
        self.assertEqual(1, len(self.hardware(text % 0).nodes('node').devices))
        error = self.assertRaises(hardware.InvalidDevice, self.hardware, text % 1)
        self.assertIn('0000:20:00.0 of node node is on NUMA node 1', str(error))

    def test_refuses_sets_that_do_not_exist(self):
        for options, reason in (
            ({'cpu_shared_set': '0-64'}, 'it has CPUs that node node lacks'),
            ({'cpu_shared_set': '0', 'cpu_dedicated_set': '0-1'}, 'it has CPUs of cpu_ded'),
            ({'cpu_dedicated_set': 'a'}, "Invalid inclusion expression 'a'"),
            ({'cpu_shared_set': '0', 'reserved_host_cpus': 1}, 'reserved_host_cpus is set'),
            ({'cpu_dedicated_set': '0', 'reserved_host_cpus': 1}, 'reserved_host_cpus is set'),
        ):
            with self.subTest(options):
                error = self.assertRaises(
                    hardware.InvalidSet, self.hardware, 'extends: nfv', **options
                )
                self.assertIn(reason, str(error))
        error = self.assertRaises(
            hardware.InvalidSet, self.hardware, 'extends: default', cpu_shared_set='0'
        )
        self.assertIn('have no numbers', str(error))
