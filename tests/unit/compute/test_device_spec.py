"""[pci]device_spec: which devices of a host guests can have."""

import dataclasses
import json

import testtools

from nova_lite.compute import device_spec
from nova_lite.virt import pci

GPU = pci.Device('0000:0a:00.0', '10de', '2330')
CARD = pci.Device('0001:1b:00.1', '15b3', '1021', pci.PF)
FUNCTION = pci.Device('0001:1b:01.0', '15b3', '101e', pci.VF, parent=CARD.address)
DEVICES = GPU, CARD, FUNCTION
# What nova refuses, and keys that need what does not exist here.
INVALID = (
    '{bad', '1', '[1]', {'vendor_id': '10de1'}, {'vendor_id': 'zzzz'}, {'address': '*:0g:00.*'},
    {'address': '*:1ff:00.*'}, {'address': {'bus': '('}}, {'address': {'slots': '1'}},
    {'live_migratable': 'x'}, {'physical_network': ''}, {'trusted': '?'}, {'one_time_use': '1x'},
    {'managed': 'maybe'}, {'devname': 'eth0'}, {'resource_class': 1}, {'traits': ['A']},
)  # fmt: skip


def offered(*entries):
    lines = [each if isinstance(each, str) else json.dumps(each) for each in entries]
    return device_spec.offered(DEVICES, device_spec.parse(lines))


def _of_ports(device):
    return device.for_ports, device.physical_network, device.trusted


class DeviceSpecTest(testtools.TestCase):
    def test_without_the_option_all_are_offered(self):
        self.assertEqual(DEVICES, offered())

    def test_no_entries_offer_nothing(self):
        self.assertEqual((), offered([]))
        self.assertEqual((), offered([], []))
        self.assertEqual((GPU,), offered([], {'product_id': '2330'}))

    def test_fits(self):
        for entry, expected in (
            ({}, DEVICES),
            ({'vendor_id': '10DE'}, (GPU,)),
            ({'vendor_id': '15b3', 'product_id': '*'}, (CARD, FUNCTION)),
            ({'product_id': '101e'}, (FUNCTION,)),
            ({'address': '0000:0a:00.0'}, (GPU,)),
            ({'address': '*:1B:*.*'}, (CARD, FUNCTION)),
            ({'address': '0001:1b:00.1', 'product_id': '101e'}, (FUNCTION,)),
            ({'address': {'domain': '.*', 'bus': '0[0-9a]', 'function': '[0-2]'}}, (GPU,)),
            ([{'product_id': '2330'}, {'product_id': '101e'}], (GPU, FUNCTION)),
        ):
            with self.subTest(entry):
                self.assertEqual(expected, offered(entry))

    def test_the_first_spec_that_fits_describes_a_device(self):
        found = offered({'product_id': '2330', 'live_migratable': 'yes'}, {'vendor_id': '*'})
        self.assertEqual([True, False, False], [device.live_migratable for device in found])

    def test_devices_of_ports(self):
        entry = {'vendor_id': '15b3', 'physical_network': 'left', 'trusted': 'true'}
        for device in offered(entry):
            self.assertEqual((True, 'left', True), _of_ports(device))
            self.assertEqual(device, pci.Device.from_dict(device.to_dict()))
        tunnels = offered({'product_id': '101e', 'physical_network': None})
        self.assertEqual([(True, None, False)], [_of_ports(each) for each in tunnels])
        self.assertEqual([(False, None, False)] * 3, [_of_ports(each) for each in offered()])

    def test_names_of_placement(self):
        entries = [
            {'vendor_id': '15b3', 'physical_network': 'left'},
            {'vendor_id': '10de', 'resource_class': 'gpu', 'traits': 'b,HW_GPU_API_VULKAN, A-1'},
        ]
        specs = device_spec.parse([json.dumps(entries)])
        gpu, *others = device_spec.offered(DEVICES, specs, placed=True)
        self.assertEqual('CUSTOM_GPU', gpu.resource_class)
        self.assertEqual(('CUSTOM_A_1', 'CUSTOM_B', 'HW_GPU_API_VULKAN'), gpu.traits)
        self.assertEqual(gpu, pci.Device.from_dict(json.loads(json.dumps(gpu.to_dict()))))
        # Ports do not ask placement for their devices.
        self.assertEqual([None, None], [device.resource_class for device in others])
        # Aliases know the class and the traits without placement as well.
        named, *others = device_spec.offered(DEVICES, specs)
        self.assertEqual(dataclasses.replace(gpu, unplaced=True), named)
        self.assertEqual([False, False], [device.is_placed for device in (named, others[0])])
        self.assertEqual(named, pci.Device.from_dict(json.loads(json.dumps(named.to_dict()))))
        self.assertEqual([None, None], [device.resource_class for device in others])
        self.assertEqual(DEVICES, offered({'live_migratable': 'no'}))
        found = device_spec.offered(DEVICES, device_spec.parse([]), placed=True)
        expected = ['CUSTOM_PCI_10DE_2330', 'CUSTOM_PCI_15B3_1021', 'CUSTOM_PCI_15B3_101E']
        self.assertEqual(expected, [device.resource_class for device in found])

    def test_refused(self):
        for entry in INVALID:
            with self.subTest(entry):
                self.assertRaises(device_spec.PciConfigInvalidSpec, offered, entry)
