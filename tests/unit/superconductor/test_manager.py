"""The super-conductor without the connection to a cell, and after its queue was lost."""

import fixtures

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import build_requests
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


class ManagerTestCase(build_base.BuildTestCase):
    def setUp(self):
        super().setUp()
        self.boss = super_module.SuperConductor(self.cells.conf, self.world, name='one')
        self.addCleanup(self.boss.stop)


class CellAwayTest(ManagerTestCase):
    def test_hosts_of_other_cells_are_found(self):
        self.cell('cell2').db.write(compute_nodes.report, [{**NODE, 'uuid': runtime.new_uuid()}])
        self.away('cell1')
        self.boss.discover_hosts()
        mapping = self.api_db.read(host_mappings.get, 'new')
        self.assertEqual(self.cell('cell2').id, mapping.cell_id)


class LostQueueTest(ManagerTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(f'{super_module.__name__}.GRACE_S', 0.1))
        self.useFixture(fixtures.MonkeyPatch(f'{super_module.__name__}.RETRY_S', 0.1))

    def wait_until_built(self):
        deadline = runtime.monotonic() + 30
        while not self.compute.built:
            self.assertLess(runtime.monotonic(), deadline)
            runtime.sleep(0.01)

    def test_builds_go_on_long_before_their_leases_end(self):
        self.boss.queues_renewed()
        self.wait_until_built()
        self.assertEqual([('host-1', self.uuid)], self.compute.built)
        # The message was not lost, but late.
        self.boss.build_servers(context.admin(), [self.uuid])
        self.assertEqual([('host-1', self.uuid)], self.compute.built)

    def test_builds_go_on_when_the_database_answers_again(self):
        away = [exception.Unavailable(service='The database', reason='restart')] * 2
        write = self.api_db.write

        def write_again(*args, **kwargs):
            if away:
                raise away.pop()
            return write(*args, **kwargs)

        self.api_db.write = write_again
        self.boss.queues_renewed()
        self.wait_until_built()
        self.assertEqual([], away)

    def test_leases_become_shorter_and_never_longer(self):
        for in_s, renewed_s in ((30, 30), (5, 5), (30, 5)):
            self.api_db.write(build_requests.hurry, in_s)
            row = self.api_db.read(build_requests.get, self.uuid)
            left_s = (row.lease_until - runtime.naive_now()).total_seconds()
            self.assertTrue(renewed_s - 4 < left_s <= renewed_s, left_s)
