"""PCI devices of servers through their whole life, in a whole cloud.

The hosts have two NUMA nodes, with two GPUs on the first and one on the second, and a network card.
"""

import json
import os

from tests import fixtures as fixtures_package
from tests.fixtures import crossing
from tests.functional import held_parts
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

PROFILE = os.path.join(os.path.dirname(fixtures_package.__file__), 'gpu_hosts.yaml')
ALIASES = [
    {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330'},
    {
        'name': 'vf',
        'vendor_id': '15b3',
        'product_id': '101e',
        'device_type': 'type-VF',
        'live_migratable': 'yes',
    },
    {'name': 'card', 'vendor_id': '15b3', 'product_id': '1021', 'device_type': 'type-PF'},
]
ALIAS = 'pci_passthrough:alias'
LIVE = {'host': None, 'block_migration': 'auto'}


class PciCase(held_parts.HeldPartsTest):
    settings = {
        'cells': 1,
        'hosts': 2,
        'profile': PROFILE,
        'options': {
            'pci': {'alias': json.dumps(ALIASES)},
            'filter_scheduler': {
                'enabled_filters': ['ComputeFilter', 'ImagePropertiesFilter']
                + ['PciPassthroughFilter', 'NUMATopologyFilter']
            },
        },
    }

    def flavor(self, name, text, **specs):
        specs = {ALIAS: text, **{f'hw:{key}': value for key, value in specs.items()}}
        return super().flavor(name, specs, vcpus=2)

    def setUp(self):
        super().setUp()
        self.flavor('gpu', 'gpu:1')
        self.flavor('two', 'gpu:2,vf:1')

    def shown(self, parts):
        """The addresses of the devices."""
        return [address for held in parts for _name, address in held['devices']]

    def has(self, server, number):
        """Require that a server holds so many devices of its host, and nothing is wrong."""
        host = self.cloud.admin.compute.get_server(server.id).compute_host
        self.assertEqual(number, len(self.held(host)[server.id]))
        self.assertEqual([], self.cloud.findings())
        return host, self.held(host)[server.id]


@sample.in_turns(3)
class PciTest(PciCase):
    def test_every_device_can_be_had_and_none_twice(self):
        """Two hosts have six GPUs, and the seventh server finds none."""
        servers = [self.cloud.boot(f's{number}', flavor='gpu') for number in range(6)]
        held = {(host, *addresses) for host, addresses in (self.has(each, 1) for each in servers)}
        self.assertEqual(6, len(held))
        self.has(self.hosts_are_full('gpu', servers[0]), 1)

    def test_near_to_the_nodes_of_the_server(self):
        self.flavor('near', 'gpu:2', numa_nodes='1', pci_numa_affinity_policy='required')
        self.flavor('far', 'gpu:3', numa_nodes='1', pci_numa_affinity_policy='required')
        self.flavor('wide', 'gpu:3', numa_nodes='2', pci_numa_affinity_policy='required')
        server = self.cloud.boot(flavor='near')
        self.has(server, 2)
        path = f'/servers/{server.id}/topology'
        (node,) = self.cloud.api('GET', path, version='2.78').json()['nodes']
        self.assertEqual(0, node['host_node'])
        self.has(self.cloud.boot('wide', flavor='wide'), 3)
        self.cloud.boot('far', flavor='far', status='ERROR')

    def test_a_card_or_its_functions(self):
        self.flavor('card', 'card:1')
        self.flavor('vf', 'vf:2')
        self.has(self.cloud.boot('a', flavor='card'), 1)
        self.has(self.cloud.boot('b', flavor='vf'), 2)
        self.cloud.boot('c', flavor='card', status='ERROR')
        self.cloud.boot('d', flavor='vf', status='ERROR')

    def test_unknown_aliases_are_refused(self):
        self.flavor('tpu', 'tpu:1')
        server = self.cloud.boot(flavor='gpu')
        body = {
            'server': {
                'name': 'x',
                'flavorRef': self.cloud.flavor_id('tpu'),
                'imageRef': self.cloud.image_id('cirros'),
                'networks': 'none',
            }
        }
        for path, content in (
            ('/servers', body),
            (
                f'/servers/{server.id}/action',
                {'resize': {'flavorRef': self.cloud.flavor_id('tpu')}},
            ),
        ):
            refused = self.cloud.api('POST', path, version='2.37', json=content)
            self.assertEqual(400, refused.status_code)
            self.assertEqual(
                'PCI alias tpu is not defined', refused.json()['badRequest']['message']
            )

    def test_power(self):
        server = self.cloud.boot(flavor='two')
        before = self.has(server, 3)
        for action, content, status in (
            ('reboot', {'type': 'HARD'}, 'ACTIVE'),
            ('os-stop', None, 'SHUTOFF'),
            ('os-start', None, 'ACTIVE'),
            ('rebuild', {'imageRef': self.cloud.image_id('cirros')}, 'ACTIVE'),
        ):
            with self.subTest(action):
                self.moving.act(server, action, content)
                self.cloud.wait(server, status)
                self.moving.wait_idle(server)
                self.assertEqual(before, self.has(server, 3))
        self.cloud.restart()
        self.assertEqual(before, self.has(server, 3))

    def test_resize(self):
        server = self.cloud.boot(flavor='gpu')
        source, before = self.has(server, 1)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.resize(server, 'two')
            moved = self.cloud.wait(server, 'VERIFY_RESIZE').compute_host
            self.assertEqual({server.id: before}, self.held(source))
            self.assertEqual(3, len(self.held(moved)[server.id]))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            if status == 202:
                self.assertEqual((source, before), self.has(server, 1))
                self.assertEqual({}, self.held(moved))
        self.has(server, 3)
        self.assertEqual({}, self.held(source))

    def test_migrations(self):
        self.flavor('vf', 'vf:1')
        fixed, free = self.cloud.boot('a', flavor='gpu'), self.cloud.boot('b', flavor='vf')
        source, _addresses = self.has(free, 1)
        self.moving.act(free, 'os-migrateLive', LIVE)
        self.moving.wait_idle(free)
        self.assertNotEqual(source, self.has(free, 1)[0])
        source, _addresses = self.has(fixed, 1)
        refused = self.moving.act(
            fixed, 'os-migrateLive', {**LIVE, 'disk_over_commit': False, 'block_migration': False},
            version='2.1', status=400,
        )  # fmt: skip
        self.assertIn('are not allowed for live migration', refused.text)
        self.moving.wait_idle(fixed)
        self.moving.act(fixed, 'migrate')
        self.cloud.wait(fixed, 'VERIFY_RESIZE')
        self.end_resize(fixed, 'confirmResize', 204)
        self.assertNotEqual(source, self.has(fixed, 1)[0])
        self.assertNotIn(fixed.id, self.held(source))

    def test_evacuation(self):
        server = self.cloud.boot(flavor='two')
        source, _addresses = self.has(server, 3)
        self.evacuate(server)
        self.assertNotEqual(source, self.has(server, 3)[0])
        self.come_back(source)

    def test_shelve(self):
        server = self.cloud.boot(flavor='two')
        self.shelve(server)
        self.unshelve(server)
        self.has(server, 3)


class RaceTest(PciCase):
    """Without filters the host alone decides: builds that do not fit go elsewhere."""

    settings = {
        **PciCase.settings,
        'options': {'pci': {'alias': json.dumps(ALIASES)}},
    }

    def test_builds_for_the_last_devices(self):
        self.moving.together(
            *(lambda name=f's{number}': self.cloud.boot(name, flavor='gpu') for number in range(6))
        )
        held = [self.held(node.name) for node in self.cloud.admin.compute.hypervisors()]
        self.assertEqual([3, 3], [len(each) for each in held])
        self.assertEqual([], self.cloud.findings())


class CrossCellTest(PciCase):
    settings = {**PciCase.settings, 'cells': 2, 'hosts': 1}

    def test_there_and_back(self):
        moves = crossing.Crossing(self.cloud)
        port = self.port()
        server = self.cloud.boot(
            flavor='gpu', availability_zone='nova:cell1-host1', networks=[{'port': port.id}]
        )
        before = self.has(server, 2)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual(before[1], self.held('cell1-host1')[server.id])
            self.assertEqual(2, len(self.held('cell2-host1')[server.id]))
            self.assertEqual([], self.cloud.findings())
            self.moving.act(server, action, status=status)
            self.cloud.wait(server, 'ACTIVE')
            moves.idle(server)
            if status == 202:
                self.assertEqual(before, self.has(server, 2))
        self.assertEqual({}, self.held('cell1-host1'))
        self.has(server, 2)

    def port(self):
        """A port that is a virtual function of its host."""
        network = self.cloud.admin.network
        made = network.create_network(
            name='left', provider_network_type='flat', provider_physical_network='left'
        )
        network.create_subnet(network_id=made.id, ip_version=4, cidr='10.7.0.0/24')
        return network.create_port(network_id=made.id, binding_vnic_type='direct')
