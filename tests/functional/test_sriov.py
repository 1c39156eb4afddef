"""Ports that are PCI devices of their hosts, through their whole life, in a whole cloud.

The hosts have two virtual functions, a vDPA device, two physical functions, and a remotely managed
card, see the profile.
"""

import functools
import os

from openstack import exceptions

from nova_lite.objects import port_devices
from tests import fixtures as fixtures_package
from tests.fixtures import attaching
from tests.functional import held_parts
from tests.sim.cases import loading

load_tests = loading.load_tests

PROFILE = os.path.join(os.path.dirname(fixtures_package.__file__), 'sriov_hosts.yaml')
LIVE = {'host': None, 'block_migration': 'auto'}
FUNCTION, SLOT = '15b3:101e', 'pci_slot'


class SriovCase(held_parts.HeldPartsTest):
    settings = {
        'cells': 1,
        'hosts': 2,
        'profile': PROFILE,
        'options': {
            'filter_scheduler': {
                'enabled_filters': ['ComputeFilter', 'PciPassthroughFilter', 'NUMATopologyFilter']
            },
        },
    }

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.network = self.cloud.admin.network
        self.left = self.physical_network('left')
        self.tunnels = next(iter(self.network.networks(is_router_external=False)))

    def port(self, kind='direct', network=None, **values):
        return self.network.create_port(
            network_id=(network or self.left).id, binding_vnic_type=kind, **values
        )

    def boot(self, *ports, **options):
        return self.cloud.boot(networks=[{'port': port.id} for port in ports], **options)

    def shown(self, parts):
        """{port: address of its device}"""
        return {name: address for held in parts for name, address in held['devices']}

    def profile(self, port):
        return self.network.get_port(port.id).binding_profile

    def has(self, server, port):
        """Require that a port is a device of its server's host. Return host and address."""
        host = self.cloud.admin.compute.get_server(server.id).compute_host
        address = self.held(host)[server.id][port.id]
        self.assertEqual(address, self.profile(port)[SLOT])
        self.assertEqual(host, self.network.get_port(port.id).binding_host_id)
        self.assertEqual([], self.cloud.findings())
        return host, address


class SriovTest(SriovCase):
    def test_every_function_can_be_had_and_none_twice(self):
        """Two hosts have four virtual functions, and the fifth port finds none."""
        ports = [self.port() for _number in range(5)]
        servers = [self.boot(port, name=f's{n}') for n, port in enumerate(ports[:4])]
        held = {self.has(each, port) for each, port in zip(servers, ports, strict=False)}
        self.assertEqual(4, len(held))
        refused = self.boot(ports[4], name='more', status='ERROR')
        self.assertIn('No valid host', refused.fault['message'])
        self.cloud.admin.compute.delete_server(servers[0])
        self.cloud.wait_gone(servers[0])
        self.assertEqual({}, self.profile(ports[0]))
        self.has(self.boot(ports[0], name='again'), ports[0])

    def test_kinds(self):
        """Each type of port gets a device that suits it."""
        for kind, network, vendor, physical in (
            ('direct', self.left, FUNCTION, 'left'),
            ('macvtap', self.left, FUNCTION, 'left'),
            ('virtio-forwarder', self.left, FUNCTION, 'left'),
            ('vdpa', self.left, FUNCTION, 'left'),
            ('direct-physical', self.left, '15b3:1021', 'left'),
            ('remote-managed', self.tunnels, '15b3:101e', None),
        ):
            with self.subTest(kind):
                port = self.port(kind, network)
                server = self.boot(port, name=kind)
                _host, address = self.has(server, port)
                profile = self.profile(port)
                self.assertEqual((vendor, physical), (
                    profile['pci_vendor_info'], profile['physical_network']
                ))  # fmt: skip
                if kind == 'remote-managed':
                    self.assertEqual('MT2113X00000', profile['card_serial_number'])
                    self.assertEqual(0, profile['vf_num'])
                    self.assertRegex(profile['pf_mac_address'], '^02(:[0-9a-f]{2}){5}$')
                self.assertEqual(
                    kind == 'direct-physical',
                    profile.get('device_mac_address', '').startswith('02:'),
                )
                self.assertEqual(kind == 'vdpa', address == '0000:82:01.0')
        self.assertEqual('ERROR', self.boot(self.port(network=self.tunnels), status='ERROR').status)
        for kind in sorted(port_devices.ACCELERATORS):
            refused = self.assertRaises(
                exceptions.BadRequestException, self.boot, self.port(kind), name='x'
            )
            self.assertIn(f'A port of type {kind}', str(refused))

    def test_types_that_hosts_lack(self):
        """The network service binds no such port, as without a driver for it."""
        server = self.cloud.boot()
        for kind in ('baremetal', 'smart-nic'):
            port = self.port(kind)
            self.boot(port, name=kind, status='ERROR')
            shown = self.cloud.admin.network.get_port(port)
            self.assertEqual(('unbound', 'DOWN'), (shown.binding_vif_type, shown.status))
            self.hands.plug(server, port_id=port.id, status=400)

    def test_attach_and_detach(self):
        server = self.cloud.boot()
        ports = [self.port() for _number in range(3)]
        for port in ports[:2]:
            self.hands.plug(server, port_id=port.id)
            self.has(server, port)
        refused = self.hands.plug(server, port_id=ports[2].id, status=400)
        self.assertIn('Failed to claim PCI device', refused['badRequest']['message'])
        self.hands.unplug(server, ports[0].id)
        self.moving.wait_idle(server)
        host, _address = self.has(server, ports[1])
        self.assertEqual({ports[1].id}, self.held(host)[server.id].keys())
        self.assertEqual({}, self.profile(ports[0]))
        self.hands.plug(server, port_id=ports[2].id)
        self.has(server, ports[2])

    def test_power(self):
        port = self.port()
        server = self.boot(port)
        parts = functools.partial(self.has, server, port)
        actions = (
            ('reboot', {'type': 'HARD'}, 'ACTIVE'),
            ('suspend', None, 'SUSPENDED'),
            ('resume', None, 'ACTIVE'),
            ('rebuild', {'imageRef': self.cloud.image_id('cirros')}, 'ACTIVE'),
        )
        self.keeps(server, parts, actions)
        self.keeps_through_restart(parts)

    def test_cold_migration(self):
        port = self.port()
        server = self.boot(port)
        source, before = self.has(server, port)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.act(server, 'migrate')
            moved = self.cloud.wait(server, 'VERIFY_RESIZE').compute_host
            self.assertEqual({server.id: {port.id: before}}, self.held(source))
            self.assertEqual((moved, self.held(moved)[server.id][port.id]), self.has(server, port))
            self.end_resize(server, action, status)
            if status == 202:
                self.assertEqual((source, before), self.has(server, port))
                self.assertEqual({}, self.held(moved))
        self.assertEqual(moved, self.has(server, port)[0])
        self.assertEqual({}, self.held(source))

    def test_live_migration(self):
        port = self.port()
        server = self.boot(port)
        source, _address = self.has(server, port)
        self.moving.act(server, 'os-migrateLive', LIVE)
        self.moving.wait_idle(server)
        self.assertNotEqual(source, self.has(server, port)[0])
        self.assertEqual({}, self.held(source))

    def test_evacuation(self):
        port = self.port()
        server = self.boot(port)
        source, _address = self.has(server, port)
        self.evacuate(server)
        self.assertNotEqual(source, self.has(server, port)[0])
        self.come_back(source)

    def test_shelve(self):
        port = self.port()
        server = self.boot(port)
        self.has(server, port)
        self.shelve(server)
        self.assertNotIn(SLOT, self.profile(port))
        self.unshelve(server)
        self.has(server, port)
