"""Base of tests of what a compute process registers in the real placement."""

import testtools

from nova_lite import conf as nova_conf
from nova_lite import context
from nova_lite.clients import auth
from nova_lite.clients import placement as placement_client
from nova_lite.db.cell import compute_nodes
from nova_lite.virt.sim import profile
from tests.fixtures import cell
from tests.fixtures import placement

CAPACITY = """
extends: instant
hosts:
  - capacity: {vcpus: %d, memory_mb: 4096, disk_gb: 100}
"""


class RegisteringTest(testtools.TestCase):
    """A process with the hosts host-1 and host-2."""

    def setUp(self):
        super().setUp()
        self.placement = self.useFixture(placement.Placement())
        self.cell = self.useFixture(
            cell.Cell(hosts=('host-1', 'host-2'), profile=profile.parse(CAPACITY % 8))
        )
        conf = nova_conf.make_conf(files=[])
        conf.set_override('auth_type', 'none', group='placement')
        conf.set_override('endpoint_override', self.placement.url, group='placement')
        self.client = placement_client.Placement(auth.Credentials(conf))
        self.cell.compute_placement = self.client
        self.cell.kill()
        self.ctxt = context.admin()
        self.cell.conductor.beat(self.ctxt, self.cell.hosts, 1)

    def report(self):
        self.placement.requests.clear()
        self.cell.compute.report_inventory()

    def node(self, host='host-1'):
        return self.cell.db.read(compute_nodes.first_of_host, host)

    def inventories(self, host='host-1'):
        return self.client.providers.inventories(self.ctxt, self.node(host).uuid)[0]

    def traits(self, host='host-1'):
        return self.client.providers.traits(self.ctxt, self.node(host).uuid)[0]
