"""Request specs in notifications: NUMA nodes and PCI devices that a server asks for."""

import json
import types

import testtools

from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.objects import port_devices
from nova_lite.scheduler import scheduling_request
from tests.unit.scheduler import base

GPU = {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330', 'live_migratable': 'yes'}


class PartsTest(testtools.TestCase):
    def parts(self, specs, ports=()):
        """The parts of a request spec and of a record, as messages have them."""
        sizes = {'vcpus': 4, 'memory_mb': 64}
        sizes['devices'] = pci.resolve(specs, pci.aliases([json.dumps(GPU)]))
        spec = base.make_spec(specs, sizes=sizes, requested_networks=list(ports))
        self.uuid = spec.instance_uuid
        record = types.SimpleNamespace(
            uuid=spec.instance_uuid,
            flavor=spec.flavor.as_dict(),
            new_flavor=None,
            image_properties=None,
            network_info=list(ports),
        )
        found = self.sent(spec_parts.of_record(record))
        guest = scheduling_request.guest_of(spec)
        self.assertEqual(found, self.sent(spec_parts.of(spec.instance_uuid, guest)))
        return found

    def sent(self, parts):
        return tuple(
            json.loads(json.dumps(part.as_wire()))['nova_object.data'] if part else None
            for part in parts
        )

    def test_most_servers_ask_for_none(self):
        self.assertEqual((None, None), self.parts({}))
        self.assertEqual((None, None), self.parts({'resources:VGPU': '1'}))
        # A former release has accepted the server.
        self.assertEqual((None, None), self.parts({'hw:numa_nodes': '3'}))

    def test_nodes(self):
        topology, requests = self.parts(
            {
                'hw:cpu_policy': 'mixed',
                'hw:cpu_dedicated_mask': '0-2',
                'hw:numa_nodes': '2',
                'hw:mem_page_size': 'large',
            }
        )
        self.assertIsNone(requests)
        self.assertEqual(self.uuid, topology['instance_uuid'])
        cells = [each['nova_object.data'] for each in topology['cells']]
        self.assertEqual(
            [(0, [], [0, 1], 32, -2, 'mixed'), (1, [3], [2], 32, -2, 'mixed')],
            [
                (
                    each['id'], each['cpuset'], each['pcpuset'], each['memory'],
                    each['pagesize'], each['cpu_policy'],
                )
                for each in cells
            ],
        )  # fmt: skip

    def test_devices(self):
        wanted = {'physical_network': 'left', 'trusted': True, 'numa_policy': 'required'}
        port = {'port_id': 'p', 'vnic_type': 'direct-physical', port_devices.KEY: wanted}
        topology, requests = self.parts({pci.ALIAS: 'gpu:2', 'resources:VGPU': '1'}, [port])
        self.assertIsNone(topology)
        gpu, other = (each['nova_object.data'] for each in requests['requests'])
        spec = {'vendor_id': '10de', 'product_id': '2330', 'live_migratable': 'true'}
        expected = {'count': 2, 'alias_name': 'gpu', 'numa_policy': 'legacy', 'request_id': None}
        self.assertEqual({**expected, 'spec': [spec]}, gpu)
        spec = {'physical_network': 'left', 'dev_type': 'type-PF', 'trusted': 'true'}
        expected = {'count': 1, 'alias_name': None, 'numa_policy': 'required', 'request_id': None}
        self.assertEqual({**expected, 'spec': [spec]}, other)
