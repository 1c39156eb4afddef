"""Pinned CPUs, pages and NUMA nodes of servers through their whole life, in a whole cloud.

The hosts have two NUMA nodes with two shared and eight dedicated CPUs each, two threads a core.
"""

import functools
import os

from tests import fixtures as fixtures_package
from tests.fixtures import filling
from tests.functional import held_parts
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

PROFILE = os.path.join(os.path.dirname(fixtures_package.__file__), 'nfv_hosts.yaml')
PINNED = {'hw:cpu_policy': 'dedicated'}
PAGES = {'hw:mem_page_size': 'large', 'hw:numa_nodes': '2', **PINNED}


class NumaCase(held_parts.HeldPartsTest):
    settings = {
        'cells': 1,
        'hosts': 3,
        'profile': PROFILE,
        'options': {
            'quota': {'instances': -1, 'cores': -1, 'ram': -1},
            'filter_scheduler': {
                'enabled_filters': ['ComputeFilter', 'ComputeCapabilitiesFilter']
                + ['ImagePropertiesFilter', 'NUMATopologyFilter']
            },
        },
    }

    def setUp(self):
        super().setUp()
        self.flavor('pinned', PINNED, vcpus=4)
        self.flavor('paged', PAGES, vcpus=8, ram=1024)

    def topology(self, server):
        path = f'/servers/{server.id}/topology'
        return self.cloud.api('GET', path, version='2.78').json()

    def pins(self, server):
        """{(NUMA node of the host, CPU): CPU of the guest}"""
        return {
            (node['host_node'], on_host): int(cpu)
            for node in self.topology(server)['nodes']
            for cpu, on_host in node['cpu_pinning'].items()
        }

    def shown(self, parts):
        """The number of CPUs."""
        return sum(len(cell['pins']) for held in parts for cell in held['cells'])

    def has(self, server):
        """Require that nothing is wrong. Return the pins of a server."""
        self.assertEqual([], self.cloud.findings())
        return self.pins(server)

    def hosts(self):
        return [node.name for node in self.cloud.admin.compute.hypervisors()]


@sample.in_turns(3)
class NumaTest(NumaCase):
    def test_what_is_shown(self):
        server = self.cloud.boot(flavor='paged')
        shown = self.topology(server)
        self.assertEqual(2048, shown['pagesize_kb'])
        self.assertEqual([[0, 1], [2, 3]], shown['nodes'][0]['siblings'])
        self.assertEqual({'0': 1, '1': 11, '2': 2, '3': 12}, shown['nodes'][0]['cpu_pinning'])
        self.assertEqual([0, 1], [node['host_node'] for node in shown['nodes']])
        amounts = next(iter(self.moving.allocations(server.id).values()))
        self.assertEqual(8, amounts['PCPU'])
        self.assertNotIn('VCPU', amounts)

    def test_mixed_policy(self):
        """The CPUs of the mask are pinned, and the others float over the shared ones."""
        specs = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '1-3'}
        server = self.cloud.boot(flavor=self.flavor('mixed', specs, vcpus=4))
        self.assertEqual({1, 2, 3}, set(self.has(server).values()))
        amounts = next(iter(self.moving.allocations(server.id).values()))
        self.assertEqual((1, 3), (amounts['VCPU'], amounts['PCPU']))
        self.assertEqual([[0, 1, 2, 3]], [n['vcpu_set'] for n in self.topology(server)['nodes']])

    def test_page_sizes(self):
        """The hosts have pages of 4 KiB and 2 MiB. Half of the memory is in large ones."""
        for size, expected in (('small', 4), ('large', 2048), ('any', 2048), ('2MB', 2048)):
            flavor = self.flavor(size, {'hw:mem_page_size': size}, vcpus=1, ram=1024)
            server = self.cloud.boot(size, flavor=flavor)
            self.assertEqual(expected, self.topology(server)['pagesize_kb'], size)
        for size, ram in (('1GB', 1024), ('large', 3072)):
            flavor = self.flavor(f'no-{size}', {'hw:mem_page_size': size}, vcpus=1, ram=ram)
            self.cloud.boot(f'no-{size}', flavor=flavor, status='ERROR')
        self.assertEqual([], self.cloud.findings())

    def test_every_free_cpu_can_be_had_and_none_twice(self):
        """Three hosts have room for twelve servers of four CPUs, and for no other."""
        servers = [self.cloud.boot(f's{number}', flavor='pinned') for number in range(12)]
        pins = {(server.compute_host, *cpu) for server in servers for cpu in self.pins(server)}
        self.assertEqual(48, len(pins))
        self.assertEqual(4, len(self.pins(self.hosts_are_full('pinned', servers[0]))))

    def test_all_that_is_free_can_be_used(self):
        """Beside servers with CPUs and pages, and one that waits for its confirmation."""
        for number, flavor in enumerate(('pinned', 'paged', 'pinned')):
            server = self.cloud.boot(f's{number}', flavor=flavor)
        self.moving.act(server, 'migrate')
        self.cloud.wait(server, 'VERIFY_RESIZE')

        def send(_what, method, path, body=None):
            answer = self.cloud.api(method, path, version='2.96', json=body)
            return answer.status_code, answer.json() if answer.content else {}

        wrong = []
        made = filling.Filling(
            send,
            self.cloud.snapshot,
            self.cloud.image_id('cirros'),
            lambda *violation: wrong.append(violation),
        )
        made.run()
        self.assertEqual([], wrong)
        # Six nodes, with CPUs and pages, and one too many of each.
        self.assertEqual(14, len(made.made))
        self.assertEqual([], self.cloud.findings())

    def test_whole_cores_of_hosts_with_threads(self):
        """Placement is asked for VCPU: the trait of threads forbids PCPU of these hosts."""
        self.flavor('alone', {**PINNED, 'hw:cpu_thread_policy': 'isolate'}, vcpus=2)
        server = self.cloud.boot(flavor='alone')
        cores = {cpu % 10 for _node, cpu in self.pins(server)}
        self.assertEqual(2, len(cores))
        amounts = next(iter(self.moving.allocations(server.id).values()))
        self.assertEqual(2, amounts['VCPU'])
        self.assertNotIn('PCPU', amounts)
        self.assertEqual([], self.cloud.findings())

    def test_power(self):
        server = self.cloud.boot(flavor='paged')
        actions = (
            ('reboot', {'type': 'HARD'}, 'ACTIVE'),
            ('os-stop', None, 'SHUTOFF'),
            ('os-start', None, 'ACTIVE'),
            ('rescue', None, 'RESCUE'),
            ('unrescue', None, 'ACTIVE'),
            ('rebuild', {'imageRef': self.cloud.image_id('cirros')}, 'ACTIVE'),
        )
        self.keeps(server, functools.partial(self.has, server), actions)

    def test_resize(self):
        server = self.cloud.boot(flavor='pinned')
        source, before = server.compute_host, self.pins(server)
        for action, flavor, status in (('revertResize', 'pinned', 202), ('confirmResize', '', 204)):
            self.moving.resize(server, 'paged')
            moved = self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual(8, len(self.pins(server)))
            self.assertEqual({server.id: 4}, self.held(source))
            self.assertEqual({server.id: 8}, self.held(moved.compute_host))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            if flavor:
                self.assertEqual(before, self.pins(server))
                self.assertEqual({}, self.held(moved.compute_host))
        self.assertEqual({}, self.held(source))
        self.assertEqual(8, len(self.pins(server)))

    def test_migrations(self):
        server = self.cloud.boot(flavor='paged')
        for action, content, status in (
            ('migrate', None, 'VERIFY_RESIZE'),
            ('os-migrateLive', {'host': None, 'block_migration': 'auto'}, 'ACTIVE'),
        ):
            source = self.cloud.admin.compute.get_server(server.id).compute_host
            self.moving.act(server, action, content)
            self.moving.wait_idle(server)
            moved = self.cloud.wait(server, status)
            self.assertNotEqual(source, moved.compute_host)
            if status == 'VERIFY_RESIZE':
                self.end_resize(server, 'confirmResize', 204)
            self.assertEqual({}, self.held(source))
            self.assertEqual({server.id: 8}, self.held(moved.compute_host))
            self.assertEqual(8, len(self.pins(server)))
            self.assertEqual([], self.cloud.findings())

    def test_evacuation(self):
        server = self.cloud.boot(flavor='paged')
        moved = self.evacuate(server)
        self.assertEqual(8, len(self.pins(server)))
        self.assertEqual({server.id: 8}, self.held(moved.compute_host))
        self.come_back(server.compute_host)

    def test_shelve(self):
        server = self.cloud.boot(flavor='paged')
        self.shelve(server)
        self.assertEqual({}, self.pins(server))
        found = self.unshelve(server)
        self.assertEqual({found.compute_host: 8}, {found.compute_host: len(self.pins(server))})

    def test_a_restart_knows_them_again(self):
        server = self.cloud.boot(flavor='paged')
        self.keeps_through_restart(functools.partial(self.has, server))


class RaceTest(NumaCase):
    """Without the filter the host alone decides: builds that do not fit go elsewhere."""

    settings = {
        **NumaCase.settings,
        'hosts': 2,
        'options': {'quota': {'instances': -1, 'cores': -1, 'ram': -1}},
    }

    def test_two_builds_for_the_last_cpus(self):
        """Placement counts CPUs, not nodes: each server wants six CPUs of one node of eight."""
        self.flavor('six', PINNED, vcpus=6)
        self.moving.together(
            *(lambda name=f's{number}': self.cloud.boot(name, flavor='six') for number in range(4))
        )
        self.assertEqual([2, 2], [len(self.held(host)) for host in self.hosts()])
        self.assertEqual([], self.cloud.findings())
        refused = self.cloud.boot('more', flavor='six', status='ERROR')
        self.assertEqual(24, sum(sum(self.held(host).values()) for host in self.hosts()))
        self.cloud.admin.compute.delete_server(refused)
        self.cloud.wait_gone(refused)


class CrossCellTest(NumaCase):
    settings = {**NumaCase.settings, 'cells': 2, 'hosts': 1}

    def test_there_and_back(self):
        server = self.cloud.boot(flavor='paged', availability_zone='nova:cell1-host1')
        before = self.pins(server)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual({server.id: 8}, self.held('cell1-host1'))
            self.assertEqual({server.id: 8}, self.held('cell2-host1'))
            self.end_resize(server, action, status)
            self.assertEqual(before, self.pins(server))
        self.assertEqual({}, self.held('cell1-host1'))


class DefaultHostsTest(own_cloud.OwnCloudTest):
    """Hosts of the default profile have one NUMA node, without dedicated CPUs and large pages."""

    settings = {'cells': 1, 'hosts': 1}

    def test_what_they_lack_is_refused(self):
        for name, specs, status in (
            ('one', {'hw:numa_nodes': '1'}, 'ACTIVE'),
            ('two', {'hw:numa_nodes': '2'}, 'ERROR'),
            ('pinned', PINNED, 'ERROR'),
            ('paged', {'hw:mem_page_size': 'large'}, 'ERROR'),
        ):
            with self.subTest(name):
                made = self.moving.flavor(name, vcpus=2)
                self.cloud.admin.compute.create_flavor_extra_specs(made, specs)
                server = self.cloud.boot(name, flavor=name, status=status)
                self.assertEqual(status, server.status)
