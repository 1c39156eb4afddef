"""Hosts and flavors that a twin cannot have as they are, after an import."""

import dataclasses

import testtools
import yaml

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.maintenance import client
from nova_lite.lab.twin import cells
from nova_lite.lab.twin import devices
from nova_lite.lab.twin import flavors
from nova_lite.lab.twin import guests
from nova_lite.lab.twin import host_reading
from nova_lite.lab.twin import hosts
from nova_lite.lab.twin import images
from nova_lite.lab.twin import names
from nova_lite.lab.twin import numa
from nova_lite.virt.sim import profile

CLASS = 'CUSTOM_PCI_10DE_2330'
GPU = devices.Provider('uuid', '0000:81:00.0', CLASS, 1, ())


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
        """All that placement has for other consumers than servers of the host in the twin."""
        found = host(
            VCPU=inventory(8, ratio=4.0),
            MEMORY_MB=inventory(100),
            DISK_GB=inventory(9),
            PCPU=inventory(9),
            CUSTOM_A=inventory(3),
        )
        found.providers = [
            dataclasses.replace(GPU, total=3, allocations={'web': {CLASS: 1}, 'old': {CLASS: 1}})
        ]
        found.lost = [numa.Part(0, 2, 10)]
        found.allocations = {
            'web': {'VCPU': 2, 'MEMORY_MB': 20, 'CUSTOM_A': 1},
            'migration': {'VCPU': 1, 'PCPU': 3, 'MEMORY_MB': 20},
            'old': {'VCPU': 4, 'MEMORY_MB': 10, 'CUSTOM_A': 2},
        }
        found.servers.add('web')
        for _attempt in range(2):
            found.reserve()
        settings = found.rule([], devices.Kinds(found.providers, {}))
        self.assertEqual({'memory_mb': 30, 'vcpus': 2, 'disk_gb': 0}, settings['reserved'])
        self.assertEqual({'CUSTOM_A': 1}, settings['inventory'])
        (card,) = settings['pci']
        self.assertEqual(2, card['functions']['count'])
        # One of three on a node that is not known, and two on the node of a guest.
        self.assertEqual((1, 8), (found.pinned, found.dedicated))
        self.assertEqual({'web', 'migration', 'old'}, found.consumers())


class GuestsTest(testtools.TestCase):
    def server(self, uuid, **more):
        flavor = {'vcpus': 2, 'ram': 20, 'disk': 1, 'ephemeral': 0, 'swap': 0}
        row = {
            'id': uuid, 'status': 'ACTIVE', 'image': '', guests.HOST: 'a', guests.TASK: None,
            'flavor': {**flavor, 'original_name': 'f'},
        }  # fmt: skip
        return {**row, **more}

    def read(self, rows, found):
        api = apis.Api({})
        reader = guests.Guests(api, images.Images(api, names.Names(shown=False)), {})
        each = reader.read(rows, {found.name: found})
        reader.note(each)
        return reader.notes

    def test_allocations_of_others(self):
        """A move that is not confirmed, an orphan and a server that is left out are reserved."""
        found = host(VCPU=inventory(8), MEMORY_MB=inventory(100))
        held = {'VCPU': 2, 'MEMORY_MB': 20}
        found.allocations = dict.fromkeys(('resized', 'migration', 'orphan', 'broken'), held)
        rows = [
            self.server('resized', status='VERIFY_RESIZE'),
            self.server('broken', status='ERROR'),
        ]
        notes = self.read(rows, found)
        self.assertEqual({'vcpus': 6, 'memory_mb': 60, 'disk_gb': 0}, rule(found)['reserved'])
        self.assertEqual((2, 20), (found.demand['VCPU'], found.demand['MEMORY_MB']))
        self.assertEqual([], found.is_over())
        for text in ('2 consumers', '1 server that are changing, deleted or in ERROR: their'):
            self.assertIn(text, ' '.join(notes))

    def test_each_server_has_its_own(self):
        """A server whose id has allocations on another host is not on that host."""
        found = host(VCPU=inventory(8), MEMORY_MB=inventory(100))
        found.allocations = {'evacuated': {'VCPU': 3}, 'web': {'VCPU': 2}}
        notes = self.read([self.server('web')], found)
        self.assertEqual(3, rule(found)['reserved']['vcpus'])
        self.assertIn('1 consumer of allocations', ' '.join(notes))
        self.assertEqual([], self.read([], host(VCPU=inventory(8), MEMORY_MB=inventory(100))))

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
            ({'topology': {'cells': 2}}, [host_reading.THREADS], (2, 2)),
            ('', [], (1, 1)),
            (None, [], (1, 1)),
            ({'topology': None}, [], (1, 1)),
        ):
            self.assertEqual(wanted, host_reading._cpus({'cpu_info': shown}, traits))

    def test_address_bits(self):
        for shown, wanted in (
            ({'maxphysaddr': {'mode': 'emulate', 'bits': 46}}, 46),
            ({'maxphysaddr': {'bits': 8}}, None),
            ({'maxphysaddr': None}, None),
            ('', None),
        ):
            self.assertEqual(wanted, host_reading._address_bits({'cpu_info': shown}))
        found = host(VCPU=inventory(4))
        self.assertNotIn('address_bits', rule(found))
        found.address_bits = 46
        self.assertEqual(46, rule(found)['address_bits'])
        profile.parse(yaml.safe_dump({'hosts': [rule(found)]}))

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
        self.assertIn('PCPU', found.classes())


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
        for specs, lacking, wanted in (
            ({'accel:device_profile': 'a'}, (), 'accelerators'),
            ({}, {'VGPU', 'CUSTOM_B'}, '(CUSTOM_B, VGPU)'),
            ({'pci_passthrough:alias': 'gpu:1,nic:2'}, (), '(nic; add --set pci.alias'),
            ({'pci_passthrough:alias': 'gpu:1, gpu:2'}, (), None),
            ({'trait:CUSTOM_A': 'required', 'hw:cpu_policy': 'dedicated'}, (), None),
        ):
            found = flavors.outside(specs, lacking, {'gpu'})
            self.assertIn(wanted or 'None', str(found), specs)

    def test_devices(self):
        for specs in ({'pci_passthrough:alias': 'a:1'}, {'resources_b:VGPU': '1'}):
            self.assertTrue(flavors.has_devices(specs))
        for specs in (
            {'resources:VCPU': '1', 'hw:cpu_policy': 'dedicated'},
            {'resources:VGPU': '0'},
        ):
            self.assertFalse(flavors.has_devices(specs))

    def test_demand(self):
        """Amounts of extra specs and dedicated CPUs replace those of the sizes."""
        sizes = {'vcpus': 4, 'ram': 64, 'disk': 3, 'ephemeral': 1, 'swap': 1025}
        mixed = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '^0'}
        for specs, pinned, wanted in (
            ({}, True, {'VCPU': 4}),
            (mixed, True, {'VCPU': 1, 'PCPU': 3}),
            # A host without dedicated CPUs counts them as shared ones.
            (mixed, False, {'VCPU': 4}),
            ({'resources:PCPU': '4'}, True, {'PCPU': 4}),
            ({'resources:VCPU': '0', 'resources:CUSTOM_A': '1'}, True, {'CUSTOM_A': 1}),
        ):
            flavor = {**sizes, 'original_name': 'f', 'extra_specs': specs}
            found = flavors.demand(flavor, {}, on_volume=True, pinned=pinned)
            self.assertEqual({**wanted, 'MEMORY_MB': 64, 'DISK_GB': 3}, found)


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
            (['*', 'a-*'], 'host a-1 is in 2 cells'),
            (['*', 'c-*'], '--cell c-* fits no host'),
        ):
            error = self.assertRaises(client.WrongUse, cells.divided, self.HOSTS, patterns)
            self.assertIn(text, str(error))
