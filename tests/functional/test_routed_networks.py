"""Routed networks and remotely managed ports: where boots and moves may go.

The simulated network service has no segments: the scheduler is told of one.
"""

import testtools

from nova_lite import context
from nova_lite import runtime
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.sim.cases import loading

load_tests = loading.load_tests

NEAR, FAR = 'cell1-host1', 'cell1-host2'
REMOTE = 'COMPUTE_REMOTE_MANAGED_PORTS'


class Routed:
    """The network service, with every subnet in one segment."""

    def __init__(self, network, segment):
        self.network, self.segment = network, segment

    def get_port(self, *args, **kwargs):
        return self.network.get_port(*args, **kwargs)

    def get_subnet(self, ctxt, subnet_id):
        return {**self.network.get_subnet(ctxt, subnet_id), 'segment_id': self.segment}

    def list_subnets(self, ctxt, **filters):
        found = self.network.list_subnets(ctxt, **filters)
        return [{**subnet, 'segment_id': self.segment} for subnet in found]


class NetworksTest(testtools.TestCase):
    settings = {
        'cells': 1,
        'hosts': 2,
        'options': {'scheduler': {'query_placement_for_routed_network_aggregates': True}},
    }

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.moving = live_moving.LiveMoving(self.cloud)
        self.network = self.cloud.admin.network
        self.wire = next(iter(self.network.networks(is_router_external=False)))
        self.scheduler = self.cloud.cloud.daemons['scheduler'].manager
        self.providers = self.scheduler.world.placement.providers
        self.nodes = {node.name: node.id for node in self.cloud.admin.compute.hypervisors()}
        self.segment, self.aggregate = runtime.new_uuid(), runtime.new_uuid()

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def route(self):
        """The network is routed, and NEAR alone reaches its segment."""
        ctxt = context.admin()
        self.providers.ensure(ctxt, self.segment, 'segment')
        self.providers.add_to_aggregate(ctxt, self.segment, self.aggregate)
        self.reach(NEAR)
        segments = self.scheduler.world.segment_aggregates
        segments.network = Routed(segments.network, self.segment)

    def reach(self, host):
        """The host reaches the segment."""
        self.providers.add_to_aggregate(context.admin(), self.nodes[host], self.aggregate)
        self.scheduler.invalidate()

    def assert_stays(self, server):
        """A migration finds no host."""
        self.moving.act(server, 'migrate')
        self.assertEqual(server.compute_host, self.cloud.wait(server).compute_host)
        self.assertEqual('error', self.moving.migration(server)['status'])

    def test_boots_and_moves_stay_where_the_segment_is(self):
        self.route()
        first = self.cloud.boot(networks=[{'uuid': self.wire.id}])
        port = self.network.create_port(network_id=self.wire.id)
        second = self.cloud.boot(networks=[{'port': port.id}])
        self.assertEqual([NEAR, NEAR], [first.compute_host, second.compute_host])
        self.assert_stays(first)
        self.reach(FAR)
        self.moving.act(first, 'migrate')
        self.assertEqual(FAR, self.cloud.wait(first, 'VERIFY_RESIZE').compute_host)
        self.moving.act(first, 'confirmResize', status=204)
        self.cloud.wait(first)

    def test_ports_that_are_devices(self):
        port = self.network.create_port(network_id=self.wire.id, binding_vnic_type='direct')
        refused = self.cloud.boot(networks=[{'port': port.id}], status='ERROR')
        self.assertIn('Exceeded maximum number of retries', refused.fault['message'])
        server = self.cloud.boot()
        body = {'interfaceAttachment': {'port_id': port.id}}
        found = self.cloud.admin.compute.post(f'/servers/{server.id}/os-interface', json=body)
        self.assertEqual(400, found.status_code, found.text)
        self.assertIn('PCI device', found.text)

    def test_remotely_managed_ports(self):
        port = self.network.create_port(network_id=self.wire.id, binding_vnic_type='remote-managed')
        refused = self.cloud.boot(networks=[{'port': port.id}], status='ERROR')
        self.assertIn('No valid host', refused.fault['message'])
        self.providers.change_traits(context.admin(), self.nodes[FAR], add=[REMOTE])
        self.scheduler.invalidate()
        refused = self.cloud.boot('again', networks=[{'port': port.id}], status='ERROR')
        self.assertIn('Exceeded maximum number of retries', refused.fault['message'])
