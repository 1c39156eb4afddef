"""Hosts and flavors that a twin cannot have as they are, after an import."""

import testtools
import yaml

from nova_lite.lab.maintenance import client
from nova_lite.lab.twin import cells
from nova_lite.lab.twin import devices
from nova_lite.lab.twin import flavors
from nova_lite.lab.twin import hosts
from nova_lite.lab.twin import names
from nova_lite.lab.twin import numa
from nova_lite.virt.sim import profile

GPU = devices.Provider('uuid', '0000:81:00.0', 'CUSTOM_PCI_10DE_2330', 1, ())


def inventory(total, *, reserved=0, ratio=1.0):
    return {'total': total, 'reserved': reserved, 'allocation_ratio': ratio}


def host(name='a', **inventories):
    return hosts.Host(name, 'the-uuid', inventories, [])


def rule(found):
    return found.rule([], devices.Kinds([], {}))


class HostsTest(testtools.TestCase):
    def test_a_host_on_shared_storage(self):
        found = host(VCPU=inventory(4), MEMORY_MB=inventory(8))
        self.assertEqual([], found.is_over())
        self.assertEqual(hosts.SHARED_DISK_GB, rule(found)['capacity']['disk_gb'])

    def test_a_host_with_more_servers_than_it_offers(self):
        found = host(
            VCPU=inventory(4, ratio=2.0),
            MEMORY_MB=inventory(100, reserved=10),
            DISK_GB=inventory(9),
        )
        found.demand['VCPU'], found.demand['MEMORY_MB'] = 9, 90
        self.assertEqual(['VCPU'], found.is_over())
        ratios = rule(found)['allocation_ratios']
        self.assertGreaterEqual(4 * ratios['vcpus'], 9)
        self.assertEqual(1.0, ratios['memory_mb'])

    def test_what_the_twin_lacks_is_reserved(self):
        found = host(VCPU=inventory(8, ratio=4.0), MEMORY_MB=inventory(100), DISK_GB=inventory(9))
        found.extra |= {'VCPU': 5, 'MEMORY_MB': 30}
        self.assertEqual({'vcpus': 2, 'memory_mb': 30, 'disk_gb': 0}, rule(found)['reserved'])

    def test_a_profile(self):
        """Most hosts share settings, and the others do not inherit what they lack."""
        large = host('c', VCPU=inventory(9))
        several = [host('a', VCPU=inventory(4)), host('b', VCPU=inventory(4)), large]
        several[0].traits = several[1].traits = ['CUSTOM_A']
        several[0].inventories['CUSTOM_A'] = several[1].inventories['CUSTOM_A'] = inventory(2)
        several[0].providers = several[1].providers = [GPU]
        rules = {each.name: each.rule([], devices.Kinds([GPU], {})) for each in several}
        usual, other = hosts.profile_of(rules)['hosts']
        self.assertEqual(('*', 4, ['CUSTOM_A']), (
            usual['match'], usual['capacity']['vcpus'], usual['traits']
        ))  # fmt: skip
        self.assertEqual(('c', 9), (other['match'], other['capacity']['vcpus']))
        self.assertIn('CUSTOM_A', other['without_traits'])
        self.assertEqual(({'CUSTOM_A': 2}, 1), (usual['inventory'], len(usual['pci'])))
        self.assertEqual(({'CUSTOM_A': 0}, []), (other['inventory'], other['pci']))
        profile.parse(yaml.safe_dump({'hosts': [usual, other]}))

    def test_further_resources(self):
        """Their ratio and reserve are in the amount, because a profile has neither."""
        found = host(CUSTOM_A=inventory(10, reserved=2, ratio=1.5))
        self.assertEqual({'CUSTOM_A': 12}, rule(found)['inventory'])
        self.assertIn('CUSTOM_A', found.classes())

    def test_what_nova_shows_of_cpus(self):
        for shown, traits, wanted in (
            ({'topology': {'cells': 4, 'threads': 2}}, [], (4, 2)),
            ({'topology': {'cells': 2}}, [hosts.THREADS], (2, 2)),
            ('', [], (1, 1)),
            (None, [], (1, 1)),
            ({'topology': None}, [], (1, 1)),
        ):
            self.assertEqual(wanted, hosts._cpus({'cpu_info': shown}, traits))

    def test_dedicated_cpus(self):
        """A host with them has its NUMA nodes in the profile, and offers what is not reserved."""
        found = host(VCPU=inventory(4), PCPU=inventory(13, reserved=1), MEMORY_MB=inventory(100))
        found.nodes, found.threads = 2, 2
        found.lost = [numa.Part(1, 2, 10)]
        settings = rule(found)
        self.assertEqual({'disk_gb': hosts.SHARED_DISK_GB}, settings['capacity'])
        described = found.topology(settings)
        self.assertEqual((4, 10), (described.shared, described.dedicated))
        self.assertEqual([2, 2], [len(node.shared) for node in described.nodes])
        self.assertEqual([6, 4], [len(node.dedicated) for node in described.nodes])
        self.assertNotIn('PCPU', found.classes())


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
        """Placement shows resources of the host, and the user gives aliases."""
        for specs, wanted in (
            ({'accel:device_profile': 'a'}, 'accelerators'),
            ({'resources:CUSTOM_B': '1'}, 'resources'),
            ({'resources1:VGPU': '1'}, 'resources'),
            ({'pci_passthrough:alias': 'gpu:1,nic:2'}, '--set pci.alias'),
            ({'pci_passthrough:alias': 'gpu:1, gpu:2', 'resources:CUSTOM_A': '1'}, None),
            ({'trait:CUSTOM_A': 'required', 'hw:cpu_policy': 'dedicated'}, None),
        ):
            found = flavors.outside(specs, {'VCPU', 'CUSTOM_A'}, {'gpu'})
            self.assertIn(wanted or 'None', str(found), specs)

    def test_devices(self):
        for specs in ({'pci_passthrough:alias': 'a:1'}, {'resources_b:VGPU': '1'}):
            self.assertTrue(flavors.has_devices(specs))
        self.assertFalse(flavors.has_devices({'resources:VCPU': '1', 'hw:cpu_policy': 'dedicated'}))

    def test_demand(self):
        sizes = {'vcpus': 4, 'ram': 64, 'disk': 3, 'ephemeral': 1, 'swap': 1025}
        found = flavors.demand(sizes, on_volume=True, dedicated=3)
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 3}, found)


class NamesTest(testtools.TestCase):
    def test_names(self):
        hidden, shown = names.Names(shown=False), names.Names(shown=True)
        self.assertNotIn('secret', hidden.of('image', 'the-id', 'secret'))
        self.assertEqual(['web', 'web-2', 'web'], [
            shown.of('group', identity, 'web') for identity in ('1', '2', '1')
        ])  # fmt: skip


class CellsTest(testtools.TestCase):
    HOSTS = ('a-1', 'a-2', 'b-1')

    def test_patterns(self):
        self.assertEqual([[*self.HOSTS]], cells.divided(self.HOSTS, []))
        found = cells.divided(self.HOSTS, ['b-*', 'a-1,a-2'])
        self.assertEqual([['b-1'], ['a-1', 'a-2']], found)

    def test_wrong_patterns(self):
        for patterns, text in (
            (['a-*'], 'host b-1 is in no cell'),
            (['*', 'a-*'], 'host a-1 is in two cells'),
            (['*', 'c-*'], '--cell c-* fits no host'),
        ):
            error = self.assertRaises(client.WrongUse, cells.divided, self.HOSTS, patterns)
            self.assertIn(text, str(error))
