"""Hosts and flavors that a twin cannot have as they are, after an import."""

import testtools

from nova_lite.lab.twin import flavors
from nova_lite.lab.twin import hosts
from nova_lite.lab.twin import names


def inventory(total, *, reserved=0, ratio=1.0):
    return {'total': total, 'reserved': reserved, 'allocation_ratio': ratio}


def host(name='a', **inventories):
    return hosts.Host(name, 'the-uuid', inventories, [])


class HostsTest(testtools.TestCase):
    def test_a_host_on_shared_storage(self):
        found = host(VCPU=inventory(4), MEMORY_MB=inventory(8))
        self.assertEqual([], found.is_over())
        self.assertEqual(hosts.SHARED_DISK_GB, found.rule()['capacity']['disk_gb'])

    def test_a_host_with_more_servers_than_it_offers(self):
        found = host(
            VCPU=inventory(4, ratio=2.0),
            MEMORY_MB=inventory(100, reserved=10),
            DISK_GB=inventory(9),
        )
        found.demand['VCPU'], found.demand['MEMORY_MB'] = 9, 90
        self.assertEqual(['VCPU'], found.is_over())
        ratios = found.rule()['allocation_ratios']
        self.assertGreaterEqual(4 * ratios['vcpus'], 9)
        self.assertEqual(1.0, ratios['memory_mb'])

    def test_what_the_twin_lacks_is_reserved(self):
        found = host(VCPU=inventory(8, ratio=4.0), MEMORY_MB=inventory(100), DISK_GB=inventory(9))
        found.extra |= {'VCPU': 5, 'MEMORY_MB': 30}
        self.assertEqual({'vcpus': 2, 'memory_mb': 30, 'disk_gb': 0}, found.rule()['reserved'])

    def test_a_profile(self):
        """Most hosts share settings, and the others do not inherit what they lack."""
        large = host('c', VCPU=inventory(9))
        several = [host('a', VCPU=inventory(4)), host('b', VCPU=inventory(4)), large]
        several[0].traits = several[1].traits = ['CUSTOM_A']
        usual, other = hosts.profile_of(several)['hosts']
        self.assertEqual(('*', 4, ['CUSTOM_A']), (
            usual['match'], usual['capacity']['vcpus'], usual['traits']
        ))  # fmt: skip
        self.assertEqual(('c', 9), (other['match'], other['capacity']['vcpus']))
        self.assertIn('CUSTOM_A', other['without_traits'])


class FlavorsTest(testtools.TestCase):
    def test_a_former_flavor(self):
        found = flavors.Flavors([{'name': 'small', 'vcpus': 1, 'ram': 64}])
        sizes = {'ram': 64, 'disk': 0, 'ephemeral': 0, 'swap': 0, 'original_name': 'small'}
        self.assertEqual('small', found.name_of({'vcpus': 1, **sizes}))
        self.assertEqual('small-2', found.name_of({'vcpus': 2, **sizes}))
        self.assertEqual('small-2', found.name_of({'vcpus': 2, **sizes}))
        self.assertEqual(2, len(found.entries))

    def test_extra_specs_that_a_twin_refuses(self):
        entry = {'name': 'f', 'properties': {'hw:foo': '1', 'trait:CUSTOM_A': 'required'}}
        self.assertEqual(['hw:foo=1 of flavor f'], flavors.without_unknown([entry]))
        self.assertEqual({'trait:CUSTOM_A': 'required'}, entry['properties'])

    def test_what_is_outside(self):
        for key in ('hw:cpu_policy', 'pci_passthrough:alias', 'resources:VGPU', 'hw:numa_nodes'):
            self.assertTrue(flavors.is_outside({key: '1'}), key)
        self.assertFalse(flavors.is_outside({'trait:CUSTOM_A': 'required', 'hw:boot_menu': 'no'}))


class NamesTest(testtools.TestCase):
    def test_names(self):
        hidden, shown = names.Names(shown=False), names.Names(shown=True)
        self.assertNotIn('secret', hidden.of('image', 'the-id', 'secret'))
        self.assertEqual(['web', 'web-2', 'web'], [
            shown.of('group', identity, 'web') for identity in ('1', '2', '1')
        ])  # fmt: skip
