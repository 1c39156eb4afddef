"""Devices that the ports of a guest request."""

import itertools

import testtools

from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.lifecycle.guests import port_requests
from nova_lite.objects import guest_numa
from nova_lite.objects import port_devices
from nova_lite.virt import pci
from nova_lite.virt import topology

NETWORKS = None, 'left', 'right'
KINDS = pci.PCI, pci.PF, pci.VF, pci.VDPA


def wanted(kind='direct', **values):
    device = {'physical_network': 'left', 'trusted': False, 'numa_policy': None, **values}
    return {'port_id': 'p', 'vnic_type': kind, 'device': device}


def request(*args, policy=None, **values):
    (found,) = port_requests.requests([wanted(*args, **values)], policy)
    return found


def device(kind=pci.VF, network='left', address='0000:01:00.1', **values):
    return pci.Device(
        address, '15b3', '101e', kind, for_ports=True, physical_network=network, **values
    )


class FitTest(testtools.TestCase):
    def test_kinds(self):
        for kind, allowed in (
            ('direct', {pci.PCI, pci.VF}),
            ('macvtap', {pci.PCI, pci.VF}),
            ('virtio-forwarder', {pci.PCI, pci.VF}),
            ('direct-physical', {pci.PF}),
            ('vdpa', {pci.VDPA}),
        ):
            found = {each for each in KINDS if request(kind).fits(device(each))}
            self.assertEqual(allowed, found, kind)

    def test_networks(self):
        for asked, has in itertools.product(NETWORKS, NETWORKS):
            fits = request(physical_network=asked).fits(device(network=has))
            self.assertEqual(asked == has, fits, (asked, has))
        other = pci.Device('0000:01:00.1', '15b3', '101e', pci.VF)
        self.assertFalse(request(physical_network=None).fits(other))

    def test_trusted_and_remotely_managed(self):
        for kind, trusted in itertools.product(('direct', 'remote-managed'), (False, True)):
            for has, remote in itertools.product((False, True), (False, True)):
                found = request(kind, trusted=trusted).fits(
                    device(trusted=has, remote_managed=remote)
                )
                expected = (kind != 'direct') == remote and (has or not trusted)
                self.assertEqual(expected, found, (kind, trusted, has, remote))

    def test_aliases_do_not_get_what_must_be_named(self):
        alias = guest_pci.Spec('15b3', '101e')
        for kind, remote in itertools.product(KINDS, (False, True)):
            fits = kind in {pci.PCI, pci.VF} and not remote
            self.assertEqual(fits, alias.fits(device(kind, remote_managed=remote)), (kind, remote))

    def test_policies(self):
        for of_port, of_guest, expected in (
            (None, None, 'legacy'),
            (None, 'socket', 'socket'),
            ('required', 'socket', 'required'),
        ):
            found = request(numa_policy=of_port, policy=of_guest)
            self.assertEqual(expected, found.policy)

    def test_policies_of_flavor_or_image(self):
        for specs, properties, expected in (
            ({}, {}, 'legacy'),
            ({'hw:pci_numa_affinity_policy': 'required'}, {}, 'required'),
            ({}, {'hw_pci_numa_affinity_policy': 'required'}, 'required'),
        ):
            guest = constraints.of(
                constraints.Asked(
                    vcpus=1,
                    memory_mb=64,
                    specs=specs,
                    properties=properties,
                    flavor_name='',
                    image_name='',
                    image_id='',
                    ports=[wanted()],
                )
            )
            (found,) = guest.ports
            self.assertEqual(expected, found.policy, (specs, properties))

    def test_other_ports_request_nothing(self):
        ports = [{'port_id': 'p'}, {'port_id': 'p', 'vnic_type': 'normal'}]
        # A server of a former release, whose record does not describe the device.
        ports.append({'id': 'p', 'vnic_type': 'direct'})
        self.assertEqual((), port_requests.requests(ports))

    def test_nodes_are_chosen_for_the_ports(self):
        host = topology.even(2, 4, 4096)
        near = device(node=1)
        rooms = fitting.Rooms(fitting.rooms(host).nodes, (near,))
        guest = constraints.Constraints(
            nodes=(guest_numa.Node((0,), 64),), ports=(request(numa_policy='required'),)
        )
        held = fitting.fit(rooms, guest, fitting.Ratios())
        self.assertEqual([1], [cell.node for cell in held.cells])
        self.assertEqual((('p', near.address),), held.devices)
        far = fitting.fit_beside(fitting.Rooms(rooms.nodes, (device(node=0),)), guest.ports, held)
        self.assertIn('0 devices of physical network left for port p are free', far.reason)


class DescriptionTest(testtools.TestCase):
    def test_described(self):
        for port, network, expected in (
            ({}, {}, (None, False, None)),
            ({'binding:profile': None}, {'provider:physical_network': 'l'}, ('l', False, None)),
            (
                {'binding:profile': {'trusted': 'True'}, 'numa_affinity_policy': 'legacy'},
                {'segments': [{}, {'provider:physical_network': 'r'}]},
                ('r', True, 'legacy'),
            ),
        ):
            found = port_devices.described(port, network)
            self.assertEqual(expected, tuple(found.values()))

    def test_profiles_without_devices(self):
        profile = {
            'pci_slot': '1',
            'pci_vendor_info': 'a:b',
            'physical_network': 'l',
            'trusted': '1',
        }
        self.assertEqual({'trusted': '1'}, port_devices.without(profile))
        self.assertEqual({}, port_devices.without(None))
