"""cell_v2: a cell that was deleted by force and is mapped again."""

import fixtures
import testtools

from nova_lite.db import rows
from nova_lite.db.api import host_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from tests.unit.manage import test_cells


class Killed(BaseException):
    """The process ends here."""

    @classmethod
    def now(cls):
        raise cls


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
        self.add_again(urls)
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])

    def test_a_cell_that_was_silent_when_it_was_deleted(self):
        self.add_host('h1')
        self.cell('discover_hosts')
        urls = self.cells()['cell1']
        with fixtures.MonkeyPatch('nova_lite.cells.Cell.submit', lambda *args, **options: None):
            told = self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.assertIn('keep their marks', told)
        self.add_again(urls)
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])

    def test_the_command_is_killed_and_repeated(self):
        self.add_host('h1')
        self.cell('discover_hosts')
        urls = self.cells()['cell1']
        with self.meanwhile('_delete', Killed.now), testtools.ExpectedException(Killed):
            self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force')
        self.add_again(urls)
        self.assertEqual(['h1'], [row.host for row in self.api_db.read(host_mappings.every)])

    def test_a_move_that_begins_meanwhile(self):
        with self.meanwhile('_delete', lambda: self.add_move(dest_compute='h1', hidden=True)):
            self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force', code=3)
        self.assertIn('cell1', self.cells())

    def test_a_refused_deletion_leaves_the_hosts_mapped(self):
        self.add_host('h1')
        self.cell('discover_hosts')
        self.add_move(dest_compute='h1')
        self.cell('delete_cell', '--cell_uuid', self.cell_uuid, '--force', code=3)
        self.assertEqual([], self.local.read(compute_nodes.unmapped))

    def add_again(self, urls):
        argv = ('--transport-url', urls.transport_url)
        argv += ('--database_connection', urls.database_connection)
        self.cell('create_cell', '--name', 'cell1', *argv)
        self.cell('discover_hosts')
