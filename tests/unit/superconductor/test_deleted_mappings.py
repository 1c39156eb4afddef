"""Builds whose cell or host an administrator removes before their servers are mapped."""

import testscenarios

from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from tests.unit.superconductor import build_base


def _delete_host(connection, cell_id):
    host_mappings.destroy(connection, 'host-1')


def _delete_cell(connection, cell_id):
    host_mappings.destroy(connection, 'host-1')
    rows.delete(connection, cell_mappings.TABLE, id=cell_id)


class DeletedMappingTest(testscenarios.WithScenarios, build_base.BuildTestCase):
    """delete: the transaction of the administrator"""

    scenarios = [('host', {'delete': _delete_host}), ('cell', {'delete': _delete_cell})]

    def test_server_is_built_elsewhere(self):
        cell = self.cell('cell1')
        made = self.attempt()
        create = made._create_records

        def create_then_delete(cell, chosen):
            created = create(cell, chosen)
            self.api_db.write(self.delete, cell.id)
            return created

        made._create_records = create_then_delete
        made.run()
        self.assertIsNone(cell.db.read(build_base.instances.find, self.uuid))
        self.assertEqual([self.uuid], self.placement.freed)
        self.assertEqual([], self.compute.built)
        self.scheduler.host = 'host-2'
        self.take_over().run()
        self.assertEqual([('host-2', self.uuid)], self.compute.built)
        mapping = self.api_db.read(build_base.instance_mappings.find, self.uuid)
        self.assertEqual(self.cell('cell2').id, mapping.cell_id)
