"""Hosts that report themselves get into the mappings."""

import testtools

from nova_lite import exception
from nova_lite.db.api import host_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services
from nova_lite.lifecycle import discovery
from tests.fixtures import compute_api


class DiscoveryTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.api = self.useFixture(compute_api.ComputeApi())
        self.api.add_host('known')

    def report(self, host, cell):
        """A host that is there but was not discovered."""
        self.api.add_host(host, cell)
        self.api.api_db.write(host_mappings.destroy, host)
        self.api.cell(cell).db.write(compute_nodes.set_mapped, [host], mapped=False)

    def discover(self, **options):
        found = discovery.discover_hosts(self.api.cells, **options)
        return {cell.name: hosts for cell, hosts in found.items()}

    def test_new_hosts_are_mapped_once(self):
        self.report('a', 'cell1')
        self.report('b', 'cell1')
        self.report('c', 'cell2')
        self.assertEqual({'cell1': ['a', 'b'], 'cell2': ['c']}, self.discover())
        self.assertEqual('cell2', self.api.cells.of_host('c').name)
        self.assertEqual({'cell1': [], 'cell2': []}, self.discover())

    def test_one_cell_only(self):
        self.report('a', 'cell1')
        self.report('c', 'cell2')
        self.assertEqual({'cell2': ['c']}, self.discover(only=[self.api.cell('cell2')]))
        self.assertRaises(exception.HostMappingNotFound, self.api.cells.of_host, 'a')

    def test_by_service(self):
        self.api.cell('cell1').db.write(services.beat, ['young'], services.COMPUTE, 'compute')
        self.assertEqual([], self.discover()['cell1'])
        self.assertEqual(['young'], self.discover(by_service=True)['cell1'])

    def test_others_notice(self):
        def stamp():
            return self.api.api_db.read(stamps.every).get(stamps.HOSTS, 0)

        before = stamp()
        self.discover()
        self.assertEqual(before, stamp())
        self.report('a', 'cell1')
        self.discover()
        self.assertEqual(before + 1, stamp())
