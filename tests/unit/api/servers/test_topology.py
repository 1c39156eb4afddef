"""The NUMA nodes that a server's flavor and image ask for."""

import testscenarios

from nova_lite.api.servers import create_flavor
from nova_lite.db import rows
from nova_lite.db.cell import compute_nodes
from nova_lite.lifecycle import fitting
from nova_lite.virt.sim import profile
from tests.fixtures import servers_api
from tests.unit.api.servers import base


def node(cpus, memory_mb):
    return {'vcpu_set': cpus, 'siblings': [], 'memory_mb': memory_mb}


class TestTopology(testscenarios.WithScenarios, base.Case):
    scenarios = [
        (name, {'specs': specs, 'nodes': nodes, 'page_kb': page_kb})
        for name, specs, nodes, page_kb in (
            ('nothing', {}, [], None),
            ('other specs', {'hw:cpu_sockets': '2'}, [], None),
            ('pages', {'hw:mem_page_size': 'large'}, [node([0, 1, 2], 999)], None),
            ('small pages', {'hw:mem_page_size': 'small'}, [node([0, 1, 2], 999)], 4),
            ('pages in KiB', {'hw:mem_page_size': '64'}, [node([0, 1, 2], 999)], 64),
            ('pages with a unit', {'hw:mem_page_size': '1GB'}, [node([0, 1, 2], 999)], 1048576),
            ('pages of no size', {'hw:mem_page_size': 'x'}, [], None),
            ('shares', {'hw:numa_nodes': '3'}, [node([cpu], 333) for cpu in range(3)], None),
            (
                'named',
                {
                    'hw:numa_nodes': '2',
                    'hw:numa_cpus.0': '1',
                    'hw:numa_cpus.1': '0-2,^1',
                    'hw:numa_mem.0': '300',
                    'hw:numa_mem.1': '699',
                },
                [node([1], 300), node([0, 2], 699)],
                None,
            ),
            ('pinned', {'hw:cpu_policy': 'dedicated'}, [node([0, 1, 2], 999)], None),
            ('uneven', {'hw:numa_nodes': '2'}, [], None),
            ('no number', {'hw:numa_nodes': 'two'}, [], None),
        )
    ]

    def show(self, uuid, **options):
        return self.ok('GET', f'/servers/{uuid}/topology', version='2.78', **options).json

    def add(self, specs, **values):
        flavor = {**servers_api.FLAVOR, 'id': self.api.flavor.id, 'extra_specs': specs}
        return self.api.add_server(flavor=flavor, vcpus=3, memory_mb=999, **values)

    def test_of_the_flavor(self):
        shown = self.show(self.add(self.specs))
        self.assertEqual({'nodes': self.nodes, 'pagesize_kb': self.page_kb}, shown)

    def test_of_a_server_without_a_host(self):
        shown = self.show(self.add(self.specs, host=None, node=None), who=base.ADMIN)
        nodes = [
            {**each, 'host_node': index, 'cpu_pinning': {}} for index, each in enumerate(self.nodes)
        ]
        self.assertEqual(nodes, shown['nodes'])


class TestTopologyOfHosts(base.Case):
    def setUp(self):
        super().setUp()
        specs = {'hw:numa_nodes': '2', 'hw:cpu_policy': 'dedicated', 'hw:mem_page_size': 'large'}
        self.flavor = {**servers_api.FLAVOR, 'id': 1, 'vcpus': 4, 'extra_specs': specs}
        self.flavor['memory_mb'] = 512
        host = profile.load('nfv').behaviour('numa').numa
        guest = create_flavor.constraints_of(self.flavor, {})
        self.held = fitting.fit(fitting.rooms(host), guest, fitting.Ratios())
        self.host = host

    def add(self, guests):
        numa = {'host': self.host.to_dict(), 'guests': guests}
        self.api.add_host('numa', 'cell1', numa=numa)
        where = {'host': 'numa', 'node': 'numa.example'}
        return self.api.add_server(flavor=self.flavor, vcpus=4, memory_mb=512, **where)

    def show(self, uuid, **options):
        return self.ok('GET', f'/servers/{uuid}/topology', version='2.78', **options).json

    def report(self, uuid):
        """Report that the server holds parts of the host, and others that it held before."""
        values = {
            'guests': {uuid: [{**self.held.to_dict(), 'request': 'old'}, self.held.to_dict()]}
        }
        self.api.cell('cell1').db.write(
            rows.change, compute_nodes.TABLE, {'numa': {'host': None, **values}}, host='numa'
        )

    def test_pinned_cpus_are_for_administrators(self):
        uuid = self.add({})
        self.report(uuid)
        shown = self.show(uuid, who=base.ADMIN)
        self.assertEqual(2048, shown['pagesize_kb'])
        self.assertEqual(
            [
                {
                    'vcpu_set': [0, 1],
                    'siblings': [[0, 1]],
                    'memory_mb': 256,
                    'host_node': 0,
                    'cpu_pinning': {'0': 2, '1': 34},
                },
                {
                    'vcpu_set': [2, 3],
                    'siblings': [[2, 3]],
                    'memory_mb': 256,
                    'host_node': 1,
                    'cpu_pinning': {'2': 18, '3': 50},
                },
            ],
            shown['nodes'],
        )
        seen = self.show(uuid)['nodes']
        self.assertEqual([[[0, 1]], [[2, 3]]], [each['siblings'] for each in seen])
        self.assertFalse({'host_node', 'cpu_pinning'} & seen[0].keys())

    def test_before_the_host_has_reported(self):
        shown = self.show(self.add({}), who=base.ADMIN)
        self.assertEqual([{}, {}], [each['cpu_pinning'] for each in shown['nodes']])
        self.assertIsNone(shown['pagesize_kb'])


class TestTopologyVersions(base.Case):
    def test_not_before_2_78(self):
        uuid = self.api.add_server()
        self.refused('GET', f'/servers/{uuid}/topology', code=404, version='2.77')
