"""The NUMA nodes that a server's flavor and image ask for."""

import testscenarios

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
            ('pages', {'hw:mem_page_size': 'large'}, [node([0, 1, 2], 1000)], 2048),
            ('small pages', {'hw:mem_page_size': 'any'}, [node([0, 1, 2], 1000)], 4),
            ('pages in KiB', {'hw:mem_page_size': '64'}, [node([0, 1, 2], 1000)], 64),
            ('pages with a unit', {'hw:mem_page_size': '1GB'}, [node([0, 1, 2], 1000)], 1048576),
            ('pages of no size', {'hw:mem_page_size': 'x'}, [node([0, 1, 2], 1000)], None),
            ('shares', {'hw:numa_nodes': '2'}, [node([0, 1], 500), node([2], 500)], None),
            (
                'named',
                {
                    'hw:numa_nodes': '2',
                    'hw:numa_cpus.0': '1',
                    'hw:numa_cpus.1': '0-2,^1',
                    'hw:numa_mem.0': '300',
                    'hw:numa_mem.1': '700',
                },
                [node([1], 300), node([0, 2], 700)],
                None,
            ),
            (
                'more nodes than CPUs',
                {'hw:numa_nodes': '999999999'},
                [node([0], 334), node([1], 333), node([2], 333)],
                None,
            ),
            (
                'not understood',
                {'hw:numa_nodes': '1', 'hw:numa_cpus.0': 'x', 'hw:numa_mem.0': '-1'},
                [node([0, 1, 2], 1000)],
                None,
            ),
            ('no number', {'hw:numa_nodes': 'two'}, [], None),
        )
    ]

    def show(self, uuid, **options):
        return self.ok('GET', f'/servers/{uuid}/topology', version='2.78', **options).json

    def add(self, specs, **values):
        flavor = {**servers_api.FLAVOR, 'id': self.api.flavor.id, 'extra_specs': specs}
        return self.api.add_server(flavor=flavor, vcpus=3, memory_mb=1000, **values)

    def test_of_the_flavor(self):
        shown = self.show(self.add(self.specs))
        self.assertEqual({'nodes': self.nodes, 'pagesize_kb': self.page_kb}, shown)

    def test_of_the_image(self):
        image = {name.replace(':', '_'): value for name, value in self.specs.items()}
        shown = self.show(self.add({}, image_properties=image))
        self.assertEqual({'nodes': self.nodes, 'pagesize_kb': self.page_kb}, shown)

    def test_for_administrators(self):
        shown = self.show(self.add(self.specs), who=base.ADMIN)
        nodes = [{**each, 'host_node': 0, 'cpu_pinning': {}} for each in self.nodes]
        self.assertEqual(nodes, shown['nodes'])


class TestTopologyVersions(base.Case):
    def test_the_flavor_goes_first(self):
        flavor = {**servers_api.FLAVOR, 'id': 1, 'extra_specs': {'hw:numa_nodes': '1'}}
        uuid = self.api.add_server(flavor=flavor, image_properties={'hw_numa_nodes': '2'}, vcpus=2)
        shown = self.ok('GET', f'/servers/{uuid}/topology', version='2.78').json
        self.assertEqual([node([0, 1], 192)], shown['nodes'])

    def test_where_on_the_host(self):
        cpu_info = {'topology': {'cells': 2}}
        self.api.add_host('numa', 'cell1', cpu_info=cpu_info)
        flavor = {**servers_api.FLAVOR, 'id': 1, 'extra_specs': {'hw:numa_nodes': '3'}}
        where = {'host': 'numa', 'node': 'numa.example'}
        for values, expected in ((where, [0, 1, 0]), ({'host': None, 'node': None}, [0, 0, 0])):
            uuid = self.api.add_server(flavor=flavor, vcpus=3, **values)
            path = f'/servers/{uuid}/topology'
            shown = self.ok('GET', path, version='2.78', who=base.ADMIN).json
            self.assertEqual(expected, [each['host_node'] for each in shown['nodes']])

    def test_a_driver_that_reports_no_nodes(self):
        flavor = {**servers_api.FLAVOR, 'id': 1, 'extra_specs': {'hw:numa_nodes': '2'}}
        for name, topology in (('none', {}), ('zero', {'cells': 0})):
            self.api.add_host(name, 'cell1', cpu_info={'topology': topology})
            uuid = self.api.add_server(flavor=flavor, vcpus=2, host=name, node=f'{name}.example')
            path = f'/servers/{uuid}/topology'
            shown = self.ok('GET', path, version='2.78', who=base.ADMIN).json
            self.assertEqual([0, 0], [each['host_node'] for each in shown['nodes']])

    def test_not_before_2_78(self):
        uuid = self.api.add_server()
        self.refused('GET', f'/servers/{uuid}/topology', code=404, version='2.77')
