"""Registered providers that placement lost, or that others changed there."""

import collections

from nova_lite import runtime
from nova_lite.clients import placement as placement_client
from nova_lite.virt.sim import profile
from tests.fixtures import clock
from tests.unit.compute import registering

AGENT = """
extends: instant
hosts:
  - capacity: {vcpus: 8, memory_mb: 4096, disk_gb: 100}
    network_agent: {physical_networks: {physnet1: {egress_kbps: 1000}}}
"""
OWNER = 'OWNER_NOVA'


class TestComparison(registering.RegisteringTest):
    def setUp(self):
        self.clock = self.useFixture(clock.ManualClock())
        super().setUp()
        self.report()
        self.providers = self.client.providers
        # Registered nodes are read once, and changed ones until they stay the same.
        self.later(3)

    def later(self, times=1):
        """Report after each refresh interval."""
        for _ in range(times):
            self.clock.advance(self.cell.conf.compute.resource_provider_association_refresh)
            self.report()

    def delete(self, host='host-1'):
        self.providers.delete_tree(self.ctxt, self.node(host).uuid)

    def test_nothing_changed(self):
        """Two nodes cost a request each."""
        self.later()
        self.assertEqual([('GET', '/placement/resource_providers')] * 2, self.placement.requests)

    def test_not_before_its_turn(self):
        self.delete()
        self.report()
        self.assertEqual([], self.placement.requests)

    def test_never(self):
        self.cell.conf.set_override('resource_provider_association_refresh', 0, group='compute')
        self.delete()
        self.clock.advance(100_000)
        self.report()
        self.assertEqual([], self.placement.requests)

    def test_lost_provider(self):
        before = self.inventories(), self.traits()
        self.delete()
        self.later()
        self.assertEqual(before, (self.inventories(), self.traits()))

    def test_lost_inventories(self):
        uuid, before = self.node().uuid, self.inventories()
        for total in (1, 999):
            vcpus = {**before['VCPU'], 'total': total}
            self.providers.set_inventories(self.ctxt, uuid, {'VCPU': vcpus})
            self.later()
            self.assertEqual(before, self.inventories())

    def test_ratio_of_the_operator_stays(self):
        inventories = self.inventories()
        inventories['VCPU']['allocation_ratio'] = 9.0
        self.providers.set_inventories(self.ctxt, self.node().uuid, inventories)
        self.later()
        self.assertEqual(inventories, self.inventories())

    def test_changed_traits(self):
        """Lost ones come back, ours that are too many go, and those of others stay."""
        before = self.traits()
        changed = before - {OWNER} | {'COMPUTE_STATUS_DISABLED', 'HW_GPU_API_VULKAN'}
        self.providers.set_traits(self.ctxt, self.node().uuid, changed)
        self.later()
        self.assertEqual(before | {'HW_GPU_API_VULKAN'}, self.traits())

    def test_changed_below(self):
        """Nested providers that are lost or changed come back."""
        self.cell.driver.use_profile(profile.parse(AGENT))
        self.report()
        self.later(3)
        before = self.below()
        agent, bridge = sorted(before)
        self.providers.set_inventories(self.ctxt, before[bridge][0], {})
        self.later()
        self.assertEqual(before, self.below())
        self.providers.delete(self.ctxt, before[bridge][0])
        self.providers.delete(self.ctxt, before[agent][0])
        self.later()
        self.assertEqual(before, self.below())

    def below(self):
        """{name: (uuid, inventories, traits)} of the providers below a node."""
        listed = self.providers.list(self.ctxt, in_tree=self.node().uuid)
        return {
            each.name: (
                each.uuid,
                self.providers.inventories(self.ctxt, each.uuid)[0],
                self.providers.traits(self.ctxt, each.uuid)[0],
            )
            for each in listed
            if each.parent
        }

    def test_new_allocations(self):
        """They raise the generation: traits and inventories are read, and nothing is written."""
        uuid = self.node().uuid
        consumer = placement_client.Consumer(runtime.new_uuid(), 'p', 'u')
        wanted = {'allocations': {uuid: {'resources': {'VCPU': 1}}}}
        self.client.claim(self.ctxt, consumer, wanted)
        self.later()
        self.assertEqual(
            collections.Counter(
                {
                    ('GET', '/placement/resource_providers'): 3,
                    ('GET', f'/placement/resource_providers/{uuid}/traits'): 1,
                    ('GET', f'/placement/resource_providers/{uuid}/inventories'): 1,
                }
            ),
            collections.Counter(self.placement.requests),
        )
        self.later()
        self.assertEqual([('GET', '/placement/resource_providers')] * 2, self.placement.requests)
