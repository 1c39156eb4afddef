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
# Devices by which nova's answers about addresses were recorded, and the answers.
ADDRESSES = '0000:0a:00.0', '0001:1b:00.1', '0001:0a:00.1', '0000:00:0a.1'
FIT = (
    ('0a:00.', '02'), (':0a:00.', '02'), ('0a:00', '02'), ('*', '0123'), ('0a', '3'), ('.1', '123'),
    ('0a.1', '3'), ('', '0123'), (None, '0123'), ('a:0.1', '2'), ('0A:00', '02'), ('00:00.0', ''),
    ('::.', '0123'), ('1b:*.*', '1'), ('0000:0a:00', '0'), ('1:1b:00.1', '1'), (' 0001:1b:00.1', '1'),
    ('0x1:1b:00.1', '1'), ({'bus': '0a'}, '02'), ({'bus': '0A'}, ''), ({'bus': 'a'}, ''),
    ({'bus': '0'}, '023'), ({'bus': '0[a-b]', 'function': '0'}, '0'), ({'bus': '.a|1b'}, '012'),
    ({'domain': '1'}, ''), ({'bus': ''}, '0123'),
)  # fmt: skip
# Addresses that fit the physical function or the virtual one of a card. As in nova, only an address
# without wildcards means the functions of its device, too.
FIT_A_CARD = (
    ('0001:1b:00.1', (True, True)), ('*:1b:00.1', (True, False)), ('0001:1b:00.*', (True, False)),
    ('1b:00.1', (True, False)), ('1b:*.*', (True, True)), ('0001:1b:01.0', (False, True)),
    ({'bus': '1b', 'slot': '00'}, (True, False)), ('*:*:01.*', (False, True)),
    ({'domain': '0001', 'bus': '1b', 'slot': '00', 'function': '1'}, (True, True)),
)  # fmt: skip
# What nova refuses, and keys that need what does not exist here.
INVALID = (
    '{bad', '1', '[1]', {'vendor_id': '10de1'}, {'vendor_id': 'zzzz'}, {'address': '*:0g:00.*'},
    {'address': '*:1ff:00.*'}, {'address': {'bus': '('}}, {'address': {'slots': '1'}},
    {'address': '0*:1b:00.1'}, {'address': '0001:1b:00.[01]'}, {'address': '0001:1b:00.8'},
    {'address': '::1b:00.1'}, {'address': '1b:00.1.1'}, {'address': 5}, {'address': ['x']},
    {'address': {'bus': None}}, {'address': '-1:00.0'},
    {'live_migratable': 'x'}, {'physical_network': ''}, {'trusted': '?'}, {'one_time_use': '1x'},
    {'managed': 'maybe'}, {'devname': 5}, {'resource_class': 1}, {'traits': ['A']},
    {'devname': 'eth0', 'address': '*:1b:00.*'}, {'devname': 'eth0', 'address': {'bus': '1b'}},
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
            ({'vendor_id': '0x10de'}, (GPU,)),
            ([{'product_id': '2330'}, {'product_id': '101e'}], (GPU, FUNCTION)),
        ):
            with self.subTest(entry):
                self.assertEqual(expected, offered(entry))

    def test_addresses(self):
        devices = tuple(pci.Device(address, '10de', '2330') for address in ADDRESSES)
        for address, expected in FIT:
            with self.subTest(address):
                specs = device_spec.parse([json.dumps({'address': address})])
                found = [devices.index(each) for each in device_spec.offered(devices, specs)]
                self.assertEqual([int(each) for each in expected], found)
        for address, fits in FIT_A_CARD:
            with self.subTest(address):
                found = offered({'address': address})
                self.assertEqual(fits, (CARD in found, FUNCTION in found))

    def test_network_interfaces(self):
        devices = (
            GPU,
            dataclasses.replace(CARD, devname='eth0'),
            dataclasses.replace(FUNCTION, devname='eth0v0'),
        )
        for entry, expected in (
            ({'devname': 'eth0'}, (CARD, FUNCTION)),
            ({'devname': 'eth0v0'}, (FUNCTION,)),
            ({'devname': 'eth0', 'product_id': '101e', 'address': None}, (FUNCTION,)),
            ({'devname': 'eth0', 'vendor_id': '10de'}, ()),
            ({'devname': 'eth1'}, ()),
            ({'devname': '', 'address': '*:0a:*.*'}, (GPU,)),
            ({'devname': None}, DEVICES),
        ):
            with self.subTest(entry):
                specs = device_spec.parse([json.dumps(entry)])
                # Records of nodes do not have the names.
                self.assertEqual(expected, device_spec.offered(devices, specs))
        self.assertEqual((), offered({'devname': 'eth0'}))
        lines = ['{"devname": "eth0", "physical_network": "left"}']
        refused = self.assertRaises(
            device_spec.PciConfigInvalidSpec, device_spec.parse, lines, placed=True
        )
        self.assertIn('report_in_placement does not support devname', str(refused))
        self.assertEqual(1, len(device_spec.parse(['{"devname": ""}'], placed=True)))

    def test_a_remotely_managed_device_that_is_named_must_be_there(self):
        devices = (GPU, dataclasses.replace(CARD, devname='eth0'), FUNCTION)
        for there in ({'devname': 'eth0'}, {'address': CARD.address}, {'address': '*:77:00.0'}):
            for entry in (there, {'devname': 'eth7'}, {'address': '0001:77:00.0'}):
                with self.subTest((there, entry)):
                    lines = [
                        json.dumps({**each, 'remote_managed': 'true'}) for each in (there, entry)
                    ]
                    self._check(devices, lines, is_refused=entry is not there)
        self._check(devices, ['{"devname": "eth7"}'], is_refused=False)

    def _check(self, devices, lines, *, is_refused):
        specs = device_spec.parse(lines)
        if is_refused:
            self.assertRaises(
                device_spec.PciConfigInvalidSpec, device_spec.check_present, devices, specs
            )
        else:
            device_spec.check_present(devices, specs)

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
