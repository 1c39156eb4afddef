"""The super-conductor while a cell is away."""

from nova_lite import runtime
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.superconductor import manager as super_module
from tests.unit.superconductor import build_base

NODE = {
    'host': 'new',
    'hypervisor_hostname': 'new',
    'hypervisor_type': 'sim',
    'hypervisor_version': 1,
    'vcpus': 8,
    'memory_mb': 8192,
    'local_gb': 100,
}


class CellAwayTest(build_base.BuildTestCase):
    def test_hosts_of_other_cells_are_found(self):
        self.cell('cell2').db.write(compute_nodes.report, [{**NODE, 'uuid': runtime.new_uuid()}])
        self.away('cell1')
        boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(boss.stop)
        boss.discover_hosts()
        mapping = self.api_db.read(host_mappings.get, 'new')
        self.assertEqual(self.cell('cell2').id, mapping.cell_id)
