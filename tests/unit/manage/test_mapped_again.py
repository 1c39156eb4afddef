"""cell_v2: a cell that was deleted by force and is mapped again."""

from nova_lite.db import rows
from nova_lite.db.api import host_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from tests.unit.manage import test_cells


class MappedAgainTest(test_cells.CellTest):
    def test_map_a_deleted_cell_again(self):
        """Its hosts are discovered, and nothing is left of its deleted servers."""
        self.add_host('h1')
        self.cell('discover_hosts')
        server = self.add_server()
        self.cell('map_instances', '--cell_uuid', self.cell_uuid)
        self.api_db.write(rows.insert, request_specs.TABLE, [{'instance_uuid': server, 'spec': {}}])
        self.local.write(instances.mark_deleted, server)
        urls = self.cells()['cell1']
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.assertEqual([], self.api_db.read(rows.every, request_specs.TABLE))
        argv = ('--transport-url', urls.transport_url)
        argv += ('--database_connection', urls.database_connection)
        self.cell('create_cell', '--name', 'cell1', *argv)
        self.cell('discover_hosts')
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])
