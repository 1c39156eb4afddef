"""PCI devices of servers through their whole life, in a whole cloud.

The hosts have two NUMA nodes, with two GPUs on the first and one on the second, and a network card.
"""

import collections
import functools
import json
import os

from nova_lite import context
from tests import fixtures as fixtures_package
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
POWER = (
    ('reboot', {'type': 'HARD'}, 'ACTIVE'),
    ('os-stop', None, 'SHUTOFF'),
    ('os-start', None, 'ACTIVE'),
)


PLACED = {
    'alias': json.dumps(
        [
            {'name': 'gpu', 'resource_class': 'GPU', 'traits': 'big'},
            {'name': 'other', 'resource_class': 'GPU', 'traits': 'small'},
        ]
    ),
    'report_in_placement': True,
    'device_spec': json.dumps(
        {
            'vendor_id': '10de',
            'resource_class': 'gpu',
            'traits': 'BIG,hw_gpu_api_vulkan',
        }
    ),
}
FILTERS = {
    'enabled_filters': ['ComputeFilter', 'ImagePropertiesFilter']
    + ['PciPassthroughFilter', 'NUMATopologyFilter']
}


class PciCase(held_parts.HeldPartsTest):
    """two: aliases of the flavor with two GPUs"""

    two = 'gpu:2,vf:1'
    settings = {
        'cells': 1,
        'hosts': 2,
        'profile': PROFILE,
        'options': {
            'pci': {'alias': json.dumps(ALIASES)},
            'filter_scheduler': FILTERS,
        },
    }

    def flavor(self, name, text, **specs):
        specs = {ALIAS: text, **{f'hw:{key}': value for key, value in specs.items()}}
        return super().flavor(name, specs, vcpus=2)

    def setUp(self):
        super().setUp()
        self.flavor('gpu', 'gpu:1')
        self.flavor('two', self.two)

    def shown(self, parts):
        """The addresses of the devices."""
        return [address for held in parts for _name, address in held['devices']]

    def has(self, server, number):
        """Require that a server holds so many devices of its host, and nothing is wrong."""
        host = self.cloud.admin.compute.get_server(server.id).compute_host
        self.assertEqual(number, len(self.held(host)[server.id]))
        self.assertEqual([], self.cloud.findings())
        return host, self.held(host)[server.id]


@sample.in_turns(4)
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

    def test_affinity_policies(self):
        """A node has two of the three GPUs, and the other node of the same socket has one.

        Legacy permits only devices whose node is not known.
        """
        for policy in ('preferred', 'socket', 'legacy'):
            self.flavor(policy, 'gpu:3', numa_nodes='1', pci_numa_affinity_policy=policy)
        self.has(self.cloud.boot('soft', flavor='preferred'), 3)
        self.has(self.cloud.boot('near', flavor='socket'), 3)
        self.cloud.boot('hard', flavor='legacy', status='ERROR')

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
        parts = functools.partial(self.has, server, 3)
        rebuild = 'rebuild', {'imageRef': self.cloud.image_id('cirros')}, 'ACTIVE'
        self.keeps(server, parts, (*POWER, rebuild))
        self.keeps_through_restart(parts)

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


class PlacementCase(PciCase):
    settings = {
        **PciCase.settings,
        'options': {
            'pci': PLACED,
            'filter_scheduler': {**FILTERS, 'pci_in_placement': True},
        },
    }

    two = 'gpu:2'

    def allocated(self, consumer):
        """{host: number of devices} that a consumer has in placement."""
        providers = self.moving.world.placement.providers.list(context.admin())
        names = {each.uuid: each.name for each in providers}
        found = collections.Counter()
        for uuid, resources in self.moving.allocations(consumer).items():
            found[names[uuid].partition('_')[0]] += resources.get('CUSTOM_GPU', 0)
        return +found

    def has(self, server, number):
        host, addresses = super().has(server, number)
        self.assertEqual({host: number}, self.allocated(server.id))
        return host, addresses

    def moves(self):
        server = self.cloud.boot(flavor='gpu')
        source, _addresses = self.has(server, 1)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.resize(server, 'two')
            moved = self.cloud.wait(server, 'VERIFY_RESIZE').compute_host
            self.assertEqual({moved: 2}, self.allocated(server.id))
            migration = self.moving.migration(server)['uuid']
            self.assertEqual({source: 1}, self.allocated(migration))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            self.has(server, 1 if status == 202 else 2)
        self.shelve(server)
        self.assertEqual({}, self.allocated(server.id))
        self.unshelve(server)
        source, _addresses = self.has(server, 2)
        self.evacuate(server)
        self.come_back(source)
        self.assertNotEqual(source, self.has(server, 2)[0])


class PlacementTest(PlacementCase):
    """Placement knows the devices: it chooses the cards, and has what servers hold."""

    def test_every_device_can_be_had_and_none_twice(self):
        servers = [self.cloud.boot(f's{number}', flavor='two') for number in range(2)]
        servers += [self.cloud.boot(f't{number}', flavor='gpu') for number in range(2)]
        for server, number in zip(servers, (2, 2, 1, 1), strict=True):
            self.has(server, number)
        self.has(self.hosts_are_full('gpu', servers[3]), 1)
        self.flavor('other', 'other:1')
        self.cloud.boot('other', flavor='other', status='ERROR')

    def test_near_to_the_nodes_of_the_server(self):
        """Placement does not know NUMA nodes: its first candidates may not fit."""
        for name, number in (('near', 2), ('last', 1)):
            specs = {'numa_nodes': '1', 'pci_numa_affinity_policy': 'required'}
            self.flavor(name, f'gpu:{number}', **specs)
            for host in range(2):
                self.has(self.cloud.boot(f'{name}{host}', flavor=name), number)

    def test_moves(self):
        self.moves()


class HealingTest(PlacementCase):
    """A scheduler that does not ask placement for devices: hosts allocate what they choose."""

    settings = {
        **PciCase.settings,
        'options': {'pci': PLACED, 'filter_scheduler': FILTERS},
    }

    def test_moves(self):
        self.moves()


@sample.in_turns(2)
class CrossCellTest(PciCase):
    settings = {**PciCase.settings, 'cells': 2, 'hosts': 1}

    def test_there_and_back(self):
        port = self.port()
        made = self.moving.flavor('both', vcpus=2)
        specs = {ALIAS: 'gpu:1', 'resources:VGPU': '1', 'trait:CUSTOM_SMALL': 'required'}
        self.cloud.admin.compute.create_flavor_extra_specs(made, specs)
        server = self.cloud.boot(
            flavor='both', availability_zone='nova:cell1-host1', networks=[{'port': port.id}]
        )
        before = self.has(server, 3)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual(before[1], self.held('cell1-host1')[server.id])
            self.assertEqual(3, len(self.held('cell2-host1')[server.id]))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            if status == 202:
                self.assertEqual(before, self.has(server, 3))
        self.assertEqual({}, self.held('cell1-host1'))
        self.has(server, 3)

    def port(self):
        """A port that is a virtual function of its host."""
        network_id = self.physical_network('left').id
        return self.cloud.admin.network.create_port(
            network_id=network_id, binding_vnic_type='direct'
        )
