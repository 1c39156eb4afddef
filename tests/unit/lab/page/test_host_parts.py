"""NUMA nodes and devices of a host, for the live page."""

import json

import testtools

from nova_lite.lab.page import host_parts
from nova_lite.virt import topology
from nova_lite.virt.sim import profile


class HostPartsTest(testtools.TestCase):
    def made(self, guests):
        behaviour = profile.load('gpu').behaviour('host')
        host = topology.Host(behaviour.numa.nodes, behaviour.pci)
        parts = {uuid: [held.to_dict() for held in found] for uuid, found in guests.items()}
        return host_parts.make([json.loads(json.dumps({'host': host.to_dict(), 'guests': parts}))])

    def test_what_servers_hold(self):
        cells = [
            topology.Cell(node=0, cpus=(0,), memory_mb=64, page_kb=2048, pins=((0, cpu),))
            for cpu in (2, 34)
        ]
        gpu = '0000:20:00.0'
        found = self.made(
            {
                # At both ends of a move within the host.
                'a': [topology.Held(cells[:1], 'x', (('gpu', gpu),)), topology.Held(cells[:1])],
                'b': [topology.Held(cells[1:])],
            }
        )
        first, second = found['nodes']
        self.assertEqual((28, 2, 0), (
            first['dedicated'], first['dedicated_held'], second['dedicated_held']
        ))  # fmt: skip
        self.assertEqual([0, 64, 0], [each['held'] for each in first['pages']])
        self.assertEqual(25, len(found['devices']))
        held = [each for each in found['devices'] if each['servers']]
        self.assertEqual(
            [{'address': gpu, 'type': 'type-PCI', 'ids': '10de:2330', 'node': 0, 'servers': ['a']}],
            held,
        )
        self.assertFalse(found['more_devices'])

    def test_equal_parts_of_two_servers(self):
        """Without pins the parts of servers of one flavor are equal, and each holds its pages."""
        cell = topology.Cell(node=0, cpus=(0,), memory_mb=64, page_kb=2048)
        found = self.made({uuid: [topology.Held((cell,), 'x')] for uuid in ('a', 'b')})
        self.assertEqual([0, 64, 0], [each['held'] for each in found['nodes'][0]['pages']])

    def test_most_hosts_have_none(self):
        found = host_parts.make([])
        self.assertEqual({'nodes': [], 'devices': [], 'more_devices': False}, found)
