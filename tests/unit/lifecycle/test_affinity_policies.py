"""Affinity policies of PCI devices, whether flavor, image, alias or port asks for them."""

import json

import testtools

from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.objects import port_devices
from nova_lite.virt import pci
from nova_lite.virt import topology

GPU = {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330'}
FLAVOR, IMAGE, ALIAS, PORT = 'flavor', 'image', 'alias', 'port'
# The devices that a guest on node 0 may have: those of its node, of another node of its socket, of
# another socket, and of an unknown node.
ALLOWED = {
    'required': {'own'},
    'socket': {'own', 'socket'},
    'preferred': {'own', 'socket', 'other', 'unknown'},
    'legacy': {'own', 'unknown'},
}
PLACES = {'own': 0, 'socket': 1, 'other': 2, 'unknown': None}


def host(place):
    """A host whose node 0 alone has memory for the guest, and which has one device of each kind."""
    nodes = tuple(
        topology.Node(
            id=number,
            socket=number // 2,
            memory_mb=64 if number == 0 else 8,
            shared=frozenset([number]),
            dedicated=frozenset(),
            cores=((number,),),
            pages=(topology.Pages(4, 16384 if number == 0 else 2048),),
        )
        for number in range(3)
    )
    devices = (
        pci.Device('0000:01:00.0', '10de', '2330', node=PLACES[place]),
        pci.Device(
            '0000:02:00.0', '15b3', '101e', pci.VF, PLACES[place], for_ports=True,
            physical_network='left',
        ),
    )  # fmt: skip
    return topology.Host(nodes, devices)


def guest(source, policy):
    """The constraints of a guest of 32 MiB with one NUMA node and one device."""
    specs, properties, ports = {'hw:numa_nodes': '1'}, {}, []
    alias = dict(GPU)
    if source == FLAVOR:
        specs['hw:pci_numa_affinity_policy'] = policy
    elif source == IMAGE:
        properties['hw_pci_numa_affinity_policy'] = policy
    elif source == ALIAS:
        alias['numa_policy'] = policy
    if source == PORT:
        wanted = {'physical_network': 'left', 'trusted': False, 'numa_policy': policy}
        ports.append({'port_id': 'p', 'vnic_type': 'direct', port_devices.KEY: wanted})
    else:
        specs[guest_pci.ALIAS] = 'gpu:1'
    return constraints.of(
        constraints.Asked(
            vcpus=1,
            memory_mb=32,
            specs=specs,
            properties=properties,
            flavor_name='',
            image_name='',
            image_id='',
            devices=guest_pci.resolve(specs, guest_pci.aliases([json.dumps(alias)])),
            ports=ports,
        )
    )


class AffinityTest(testtools.TestCase):
    def test_each_policy_of_each_source(self):
        for source in (FLAVOR, IMAGE, ALIAS, PORT):
            for policy, allowed in ALLOWED.items():
                wanted = guest(source, policy)
                found = {
                    place
                    for place in PLACES
                    if isinstance(
                        fitting.fit(fitting.rooms(host(place), ()), wanted, fitting.Ratios()),
                        topology.Held,
                    )
                }
                self.assertEqual(allowed, found, (source, policy))
