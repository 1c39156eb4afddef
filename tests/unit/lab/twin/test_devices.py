"""Devices of a twin: what placement shows of them becomes a profile and options."""

import json

import testtools
import yaml

from nova_lite.compute import device_spec
from nova_lite.lab.twin import devices
from nova_lite.lifecycle.guests import pci as aliases
from nova_lite.virt import pci
from nova_lite.virt.sim import profile

ROOT = 'the-root'


class Placement:
    """The answers of placement. children: {uuid: (name, inventories, traits)}

    allocations: {uuid: {consumer: resources}}
    """

    def __init__(self, children, allocations):
        self._children, self._allocations = children, allocations

    def call(self, service, method, path):
        assert (service, method) == ('placement', 'GET')
        if path.endswith(f'?in_tree={ROOT}'):
            rows = [{'uuid': uuid, 'name': each[0]} for uuid, each in self._children.items()]
            return {'resource_providers': [{'uuid': ROOT, 'name': 'h'}, *rows]}
        _empty, _kind, uuid, part = path.split('/')
        _name, inventories, traits = self._children[uuid]
        if part == 'allocations':
            found = self._allocations.get(uuid, {})
            return {part: {consumer: {'resources': held} for consumer, held in found.items()}}
        totals = {name: {'total': total} for name, total in inventories.items()}
        return {'inventories': totals} if part == 'inventories' else {'traits': traits}


def provider(address, name='CUSTOM_PCI_10DE_2330', total=1, traits=(), **more):
    return devices.Provider('uuid', address, name, total, traits, **more)


def offered(providers, definitions=(), nodes=2):
    """Return the devices that guests can have, and those of the profile."""
    kinds = devices.Kinds(providers, aliases.aliases(map(json.dumps, definitions)))
    rule = {'pci': kinds.described(providers, nodes), 'numa_nodes': nodes}
    there = profile.parse(yaml.safe_dump({'hosts': [rule]})).behaviour('a').pci
    specs = device_spec.parse([kinds.options()['pci']['device_spec']], placed=True)
    return device_spec.offered(there, specs, placed=True), there


class ProvidersTest(testtools.TestCase):
    def test_names(self):
        """Devices and virtual GPUs are known by their names. Others are returned beside them."""
        found, others = devices.read(
            Placement(
                {
                    'b': ('h_0000:82:00.0', {'CUSTOM_GPU': 1}, ['COMPUTE_MANAGED_PCI_DEVICE']),
                    'a': (
                        'h_0000:81:00.0',
                        {'CUSTOM_PCI_15B3_101E': 8},
                        ['HW_PCI_ONE_TIME_USE', 'CUSTOM_A', 'COMPUTE_MANAGED_PCI_DEVICE'],
                    ),
                    'c': ('h_pci_0000_84_00_0', {'VGPU': 4}, ['CUSTOM_TYPE']),
                    'd': ('h_pci_0000_85_00_0', {'CUSTOM_BIG': 4}, []),
                    'e': ('h:Open vSwitch agent', {'NET_PACKET_RATE_KILOPACKET_PER_SEC': 9}, []),
                    'f': ('h:without inventories', {}, []),
                },
                {'b': {'web': {'CUSTOM_GPU': 1}}},
            ),
            ROOT,
        )
        self.assertEqual(
            [
                devices.Provider(
                    'a', '0000:81:00.0', 'CUSTOM_PCI_15B3_101E', 8, ('CUSTOM_A',), True
                ),
                devices.Provider(
                    *('b', '0000:82:00.0', 'CUSTOM_GPU', 1, ()),
                    allocations={'web': {'CUSTOM_GPU': 1}},
                ),
                devices.Provider('c', '0000:84:00.0', 'VGPU', 4, ('CUSTOM_TYPE',)),
            ],
            found,
        )
        self.assertEqual(
            {
                'h_pci_0000_85_00_0': {'CUSTOM_BIG'},
                'h:Open vSwitch agent': {'NET_PACKET_RATE_KILOPACKET_PER_SEC'},
            },
            others,
        )


class KindsTest(testtools.TestCase):
    def test_devices(self):
        """Vendor and product follow from the class. Devices are divided among the nodes."""
        addresses = [f'0000:8{number}:00.0' for number in range(4)]
        found, _there = offered([provider(each) for each in addresses])
        self.assertEqual(addresses, [each.address for each in found])
        self.assertEqual([0, 0, 1, 1], [each.node for each in found])
        self.assertEqual({('10de', '2330')}, {(each.vendor_id, each.product_id) for each in found})
        self.assertEqual({'CUSTOM_PCI_10DE_2330'}, {each.resource_class for each in found})

    def test_functions(self):
        """A provider with several devices is a card, of which only the functions are offered."""
        card = provider('0000:81:00.0', 'CUSTOM_PCI_15B3_101E', 8)
        found, there = offered([card])
        self.assertEqual((8, 9), (len(found), len(there)))
        self.assertEqual({(pci.VF, '101e')}, {(each.kind, each.product_id) for each in found})
        self.assertEqual({'0000:81:00.0'}, {each.provider for each in found})

    def test_a_card_itself(self):
        """A device is a card if an alias asks for such."""
        alias = {'name': 'a', 'vendor_id': '10de', 'product_id': '2330', 'device_type': pci.PF}
        found, there = offered([provider('0000:81:00.0')], [alias])
        self.assertEqual(([pci.PF], 2), ([each.kind for each in found], len(there)))

    def test_classes_of_their_own(self):
        """Their vendor and product are not known. Traits tell kinds of one class apart."""
        several = [
            provider('0000:81:00.0', 'CUSTOM_GPU'),
            provider('0000:82:00.0', 'CUSTOM_GPU', traits=('CUSTOM_A', 'CUSTOM_B')),
            provider('0000:83:00.0', one_time_use=True),
            provider('0000:84:00.0', traits=('CUSTOM_A',), one_time_use=True),
        ]
        found, _there = offered(several)
        self.assertEqual(
            [(each.resource_class, each.traits, each.one_time_use) for each in several],
            [(each.resource_class, each.traits, each.one_time_use) for each in found],
        )
        self.assertEqual(4, len({(each.vendor_id, each.product_id) for each in found}))
        notes = devices.Kinds(several, {}).notes()
        self.assertEqual(2, len(notes))
        self.assertIn('class CUSTOM_GPU', notes[0])

    def test_virtual_gpus(self):
        gpu = provider('0000:84:00.0', 'VGPU', 4, ('CUSTOM_TYPE',))
        kinds = devices.Kinds([gpu], {})
        self.assertEqual({}, kinds.options())
        rule = {'pci': kinds.described([gpu], 1)}
        (found,) = profile.parse(yaml.safe_dump({'hosts': [rule]})).behaviour('a').pci
        (of_type,) = found.mdev_types
        self.assertEqual((4, ('CUSTOM_TYPE',)), (of_type.count, of_type.traits))

    def test_devices_of_servers_that_the_twin_lacks(self):
        kinds = devices.Kinds([provider('0000:81:00.0', total=0)], {})
        self.assertEqual([], kinds.described([provider('0000:81:00.0', total=0)], 1))
