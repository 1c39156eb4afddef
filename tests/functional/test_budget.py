"""The cost of one boot and one deletion in transactions, messages and requests: counts, not times.

The budget is that of the design: two writing transactions in the API database,
three in the cell's, a cast and a call above the cells, a cast and two calls
within the cell, one claim. A deletion has one and three, a cast and two calls.
"""

import testtools

from tests.fixtures import budget
from tests.fixtures import cloud
from tests.sim.cases import loading

load_tests = loading.load_tests


class BudgetTest(testtools.TestCase):
    """A server without networks, on a cloud that has booted one before."""

    settings = {'cells': 1, 'hosts': 1, 'options': budget.QUIET}

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud.Cloud(**self.settings))
        self.cloud.boot('warm-up')
        self.spent = self.useFixture(budget.Spent())

    def test_boot_and_delete(self):
        server = self.cloud.boot('measured')
        self.check_boot()
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.check_delete()
        self.assertEqual([], self.cloud.findings())

    def check_boot(self):
        writes, _reads, _statements, rpc, placement, _neighbours = self.spent.take()
        self.assertEqual(2, writes.pop('api'), 'accept; map and drop the build request')
        self.assertEqual(3, writes.pop('cell1'), 'records; spawning; finished')
        self.assertEqual({}, writes)
        self.assertEqual(
            {
                'build_servers': 1,
                'select_destinations': 1,
                'build_instance': 1,
                'build_started': 1,
                'build_finished': 1,
            },
            rpc,
        )
        self.assertEqual(1, placement.pop('PUT /allocations'))
        self.assertThat(
            placement.pop('GET /allocation_candidates', 0), testtools.matchers.LessThan(2)
        )
        self.assertEqual({}, placement)

    def check_delete(self):
        writes, _reads, _statements, rpc, placement, neighbours = self.spent.take()
        self.assertEqual(1, writes.pop('api'), 'the server no longer counts')
        self.assertEqual(3, writes.pop('cell1'), 'requested; begun; deleted')
        self.assertEqual({}, writes)
        self.assertEqual({'delete_instance': 1, 'delete_started': 1, 'instance_deleted': 1}, rpc)
        self.assertEqual({'DELETE /allocations': 1}, placement)
        self.assertEqual({'network': 1}, neighbours)
