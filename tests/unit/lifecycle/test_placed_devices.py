"""Allocations of PCI devices, and the devices that a guest may have by them."""

import dataclasses

import testtools

from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import port_requests
from nova_lite.objects import port_devices
from nova_lite.virt import pci
from nova_lite.virt import topology

NODE = '11111111-1111-1111-1111-111111111111'
CARD, GPU = '0000:81:00.0', '0000:0a:00.0'


def function(number):
    address = f'0000:81:01.{number}'
    kind, parent = pci.VF, CARD
    return pci.Device(
        address, '15b3', '101e', kind, parent=parent, resource_class='CUSTOM_FUNCTION'
    )


DEVICES = (
    pci.Device(GPU, '10de', '2330', resource_class='CUSTOM_GPU'),
    *map(function, range(3)),
    pci.Device('0000:0b:00.0', '10de', '2330'),
)


def uuid(address):
    return runtime.uuid_of(NODE, address)


class PlacedDevicesTest(testtools.TestCase):
    def test_allocations(self):
        for addresses, expected in (
            ((), {}),
            ((GPU,), {uuid(GPU): {'CUSTOM_GPU': 1}}),
            (('0000:81:01.0', '0000:81:01.2'), {uuid(CARD): {'CUSTOM_FUNCTION': 2}}),
            # Placement does not know it.
            (('0000:0b:00.0',), {}),
        ):
            found = placed_devices.allocations(NODE, DEVICES, addresses)
            self.assertEqual(expected, found)
        self.assertEqual({uuid(GPU), uuid(CARD)}, placed_devices.providers(NODE, DEVICES))

    def test_devices_by_allocations(self):
        rooms = fitting.Rooms((), DEVICES)
        for allocations, expected in (
            ({uuid(GPU): {'CUSTOM_GPU': 1}}, [GPU]),
            (
                {uuid(CARD): {'CUSTOM_FUNCTION': 2}, NODE: {'VCPU': 1}},
                ['0000:81:01.0', '0000:81:01.1'],
            ),
            ({uuid(CARD): {'CUSTOM_OTHER': 1}}, []),
        ):
            found = placed_devices.Given(NODE, allocations).limit(rooms)
            self.assertEqual(expected, [device.address for device in found.devices])
        # Functions that other guests hold do not count.
        free = dataclasses.replace(rooms, devices=DEVICES[2:])
        found = placed_devices.Given(NODE, {uuid(CARD): {'CUSTOM_FUNCTION': 1}}).limit(free)
        self.assertEqual('0000:81:01.1', found.devices[0].address)

    def test_devices_for_ports(self):
        """Placement does not know them. Only a guest with such a port gets one."""
        address = '0000:0c:00.0'
        card = pci.Device(address, '10de', '2330', for_ports=True, physical_network='left')
        rooms = fitting.Rooms((), (card, DEVICES[0]))
        given = placed_devices.Given(NODE, {uuid(GPU): {'CUSTOM_GPU': 1}})
        for physical, expected in (('left', [address, GPU]), ('right', [GPU]), (None, [GPU])):
            port = {'id': 'p', 'vnic_type': 'direct'}
            wanted = {'physical_network': physical, 'trusted': False, 'numa_policy': None}
            ports = port_requests.requests([{**port, port_devices.KEY: wanted}])
            found = given.limit(rooms, ports)
            self.assertEqual(expected, [device.address for device in found.devices])

    def test_kinds_without_allocations(self):
        """The host chooses devices of a kind of which the guest has allocated none."""
        virtual = [
            pci.Device(
                f'{GPU}/small/{number}', '10de', '2330', pci.MDEV, parent=GPU, resource_class='VGPU'
            )
            for number in range(2)
        ]
        known = (*virtual, *DEVICES[1:])
        rooms = fitting.Rooms((), known)
        provider = uuid('pci_0000_0a_00_0')
        for allocations, expected in (
            ({provider: {'VGPU': 1}}, [virtual[0], *DEVICES[1:]]),
            ({uuid(CARD): {'CUSTOM_FUNCTION': 1}}, [*virtual, DEVICES[1]]),
            ({provider: {'VGPU': 2}, uuid(CARD): {'CUSTOM_FUNCTION': 1}}, [*virtual, DEVICES[1]]),
        ):
            given = placed_devices.Given.of(NODE, known, allocations)
            self.assertEqual(expected, list(given.limit(rooms).devices))
            self.assertEqual(provider in allocations, given.has(virtual[1]))

    def test_addresses_of_a_request(self):
        parts = [
            topology.Held((), 'old', (('gpu', GPU),)),
            topology.Held((), 'new', (('gpu', '0000:0b:00.0'),)),
            topology.Held.of_port('p', CARD),
        ]
        self.assertEqual({GPU}, placed_devices.addresses(parts, 'old'))
