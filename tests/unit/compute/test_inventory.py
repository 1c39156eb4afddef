"""Inventory: nodes and providers, against the real placement service."""

import fixtures

from nova_lite.compute import claims
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import guest_numa
from nova_lite.virt.sim import profile
from tests.unit.compute import registering

CAPACITY = registering.CAPACITY
DISABLED = 'COMPUTE_STATUS_DISABLED'
AGENT = """
extends: instant
hosts:
  - capacity: {vcpus: 8, memory_mb: 4096, disk_gb: 100}
  - match: host-1
    network_agent: {physical_networks: {physnet1: {egress_kbps: 1000}}}
"""
MORE = """
extends: instant
hosts: [{inventory: {MEM_ENCRYPTION_CONTEXT: 15, CUSTOM_PMEM_NAMESPACE_6GB: 2}}]
"""
NO_LICENCES = """
meta: {schema_version: '1.0'}
providers: [{identification: {uuid: $COMPUTE_NODE}, traits: {additional: [CUSTOM_GOLD]}}]
"""
LICENCES = (
    NO_LICENCES.strip()[:-2] + ', inventories: {additional: [{CUSTOM_LICENCE: {total: 4}}]}}]'
)


class TestInventory(registering.RegisteringTest):
    def test_network_agent(self):
        """Its providers follow the profile."""
        self.report()
        self.behave(AGENT)
        self.report()
        found = {each.name: each for each in self.client.providers.list(self.ctxt)}
        bridge = found['host-1:Open vSwitch agent:br-physnet1']
        self.assertEqual(self.node().uuid, bridge.root)
        self.assertNotIn('host-2:Open vSwitch agent', found)
        self.behave(CAPACITY % 8)
        self.report()
        names = {each.name for each in self.client.providers.list(self.ctxt)}
        self.assertEqual({'host-1', 'host-2'}, names)

    def test_cpus_by_set(self):
        """Shared CPUs are VCPU, dedicated ones PCPU. The options prevail over the profile."""
        numa = 'threads: 2, nodes: [{cpus: 0-7, memory_mb: 4096}]'
        for name, sets, options, expected in (
            ('no set', '', {}, {'VCPU': 8}),
            ('both', ', shared: 0, dedicated: 1-6', {}, {'VCPU': 1, 'PCPU': 6}),
            ('dedicated', ', dedicated: 1-6', {}, {'PCPU': 6}),
            ('shared', ', shared: 1-6', {}, {'VCPU': 6}),
            ('options', ', shared: 0', {'cpu_dedicated_set': '1-7,^2'}, {'PCPU': 6}),
        ):
            with self.subTest(name):
                for option, value in options.items():
                    self.cell.conf.set_override(option, value, group='compute')
                self.cell.kill()
                self.behave(f'extends: instant\nhosts: [{{numa: {{{numa}{sets}}}}}]')
                self.report()
                found = self.inventories()
                cpus = {key: found[key]['total'] for key in ('VCPU', 'PCPU') if key in found}
                self.assertEqual(expected, cpus)
                self.assertEqual(expected.get('VCPU', 0), self.node().vcpus)
                self.assertIn('HW_CPU_HYPERTHREADING', self.traits())
        self.assertEqual(1.0, found['PCPU']['allocation_ratio'])

    def test_further_resources(self):
        """Resources of the profile and of files. A file without entries removes its resources."""
        directory = self.useFixture(fixtures.TempDir()).path
        self.cell.conf.set_override('provider_config_location', directory, group='compute')
        for text, licences in ((LICENCES, {'CUSTOM_LICENCE': 4}), (NO_LICENCES, {})):
            with open(f'{directory}/provider.yaml', 'w') as file:
                file.write(text)
            self.cell.kill()
            self.behave(MORE)
            self.report()
            found = {
                name: part['total']
                for name, part in self.inventories().items()
                if name not in ('VCPU', 'MEMORY_MB', 'DISK_GB')
            }
            own = {'MEM_ENCRYPTION_CONTEXT': 15, 'CUSTOM_PMEM_NAMESPACE_6GB': 2}
            self.assertEqual({**own, **licences}, found)
            self.assertIn('CUSTOM_GOLD', self.traits())

    def test_a_lost_answer_about_what_guests_hold(self):
        """The report may have arrived: the next one is sent, although it has nothing new."""
        self.behave('extends: nfv')
        self.report()
        before = self.node().numa
        self.assertEqual({}, before['guests'])
        self.cell.lossy.lose('report_nodes', times=1, after=True)
        self.claim()
        self.assertEqual(['a'], [*self.node().numa['guests']])
        self.cell.compute.site.claims.release('host-1', 'a')
        self.assertEqual(before, self.node().numa)

    def claim(self):
        site = self.cell.compute.site
        guest = constraints.Constraints(
            nodes=(guest_numa.Node((0,), 64),), dedicated=frozenset([0])
        )
        ask = claims.Ask(guest, site.hardware.nodes('host-1'), site.inventory.ratios('host-1'))
        site.claims.claim(
            'host-1',
            'a',
            dict.fromkeys(claims.CLASSES, 0),
            site.inventory.limits('host-1'),
            ask=ask,
        )

    def behave(self, text):
        self.cell.driver.use_profile(profile.parse(text))

    def test_statements_of_a_report(self):
        """The hypervisor is asked once about each node, and once which of them have guests."""
        self.report()
        with self.cell.driver._store.read() as connection:
            statements = []
            connection.set_trace_callback(statements.append)
        self.report()
        self.assertEqual(3, len(statements))
        self.assertEqual([], self.placement.requests)

    def test_nodes_of_a_kind_share_their_facts(self):
        one, other = (self.cell.driver.get_facts(node) for node in ('host-1', 'host-2'))
        self.assertIs(one.cpu_info, other.cpu_info)
        self.assertIs(one.traits, other.traits)

    def test_first_report(self):
        self.report()
        found = self.client.providers.list(self.ctxt)
        self.assertEqual({'host-1', 'host-2'}, {provider.name for provider in found})
        node = self.node()
        self.assertEqual(node.uuid, {p.name: p.uuid for p in found}['host-1'])
        self.assertEqual((8, 4096, 100), (node.vcpus, node.memory_mb, node.local_gb))
        self.assertEqual((4.0, 512), (node.cpu_allocation_ratio, node.reserved_memory_mb))
        memory = self.inventories()['MEMORY_MB']
        self.assertEqual(
            (4096, 512, 1.0),
            tuple(memory[name] for name in ('total', 'reserved', 'allocation_ratio')),
        )
        self.assertEqual(8, self.inventories()['VCPU']['max_unit'])
        self.assertIn('OWNER_NOVA', self.traits())
        self.assertNotIn(DISABLED, self.traits())

    def test_nothing_new_costs_nothing(self):
        self.report()
        self.cell.lossy.calls.clear()
        self.report()
        self.assertEqual([], self.placement.requests)
        self.assertEqual([], self.cell.lossy.calls)

    def test_same_nodes_after_a_restart(self):
        self.report()
        node, providers = self.node().uuid, self.client.providers.list(self.ctxt)
        self.cell.kill()
        self.report()
        self.assertEqual(node, self.node().uuid)
        self.assertEqual(providers, self.client.providers.list(self.ctxt))

    def test_a_node_with_another_uuid(self):
        """The service was deleted while the host was off, and its provider was registered again."""
        self.report()
        former = self.node().uuid
        self.cell.db.write(compute_nodes.destroy, former)
        self.cell.compute._inventory.forget(['host-1'])
        self.report()
        self.assertNotEqual(former, self.node().uuid)
        found = {each.name: each.uuid for each in self.client.providers.list(self.ctxt)}
        self.assertEqual(self.node().uuid, found['host-1'])
        self.assertIn('VCPU', self.inventories())

    def test_changed_capacity(self):
        self.report()
        self.cell.driver.use_profile(profile.parse(CAPACITY % 16))
        self.report()
        self.assertEqual(16, self.inventories()['VCPU']['total'])
        self.assertEqual(16, self.node().vcpus)

    def test_ratio_of_the_operator_stays(self):
        self.report()
        self.set_ratio(9.0)
        self.cell.driver.use_profile(profile.parse(CAPACITY % 16))
        self.report()
        vcpus = self.inventories()['VCPU']
        self.assertEqual((16, 9.0), (vcpus['total'], vcpus['allocation_ratio']))

    def test_ratio_of_the_profile(self):
        """It is that of a new inventory. Options prevail."""
        self.cell.driver.use_profile(profile.parse('hosts: [{allocation_ratios: {vcpus: 3}}]'))
        self.report()
        self.assertEqual(3.0, self.inventories()['VCPU']['allocation_ratio'])
        self.assertEqual(3.0, self.node().cpu_allocation_ratio)
        self.cell.conf.set_override('cpu_allocation_ratio', 2.0, group='compute')
        self.report()
        self.assertEqual(2.0, self.inventories()['VCPU']['allocation_ratio'])

    def test_configured_ratio_wins(self):
        self.report()
        self.set_ratio(9.0)
        self.cell.conf.set_override('cpu_allocation_ratio', 2.0, group='compute')
        self.cell.kill()
        self.report()
        self.assertEqual(2.0, self.inventories()['VCPU']['allocation_ratio'])

    def test_options_that_are_read_again(self):
        self.report()
        self.cell.conf.set_override('cpu_allocation_ratio', 7.0, group='compute')
        self.cell.conf.set_override('reserved_host_memory_mb', 1024, group='compute')
        self.report()
        found = self.inventories()
        self.assertEqual(7.0, found['VCPU']['allocation_ratio'])
        self.assertEqual(1024, found['MEMORY_MB']['reserved'])
        self.assertEqual(7.0, self.node().cpu_allocation_ratio)

    def set_ratio(self, ratio):
        wanted = self.inventories()
        wanted['VCPU']['allocation_ratio'] = ratio
        self.client.providers.set_inventories(self.ctxt, self.node().uuid, wanted)

    def test_claims_follow_the_operators_ratio(self):
        self.cell.conf.set_override('initial_cpu_allocation_ratio', 0.125, group='compute')
        self.report()
        self.cell.boot()
        uuid = self.cell.boot(options={'retry': False})
        self.assertEqual('error', self.cell.state(uuid)[0])
        self.set_ratio(2.0)
        uuid = self.cell.boot()
        self.assertEqual('active', self.cell.state(uuid)[0])

    # ---- enabled and disabled ----

    def test_set_host_enabled(self):
        self.report()
        self.cell.compute.set_host_enabled(self.ctxt, 'host-1', False)
        self.assertIn(DISABLED, self.traits())
        self.assertNotIn(DISABLED, self.traits('host-2'))
        self.cell.compute.set_host_enabled(self.ctxt, 'host-1', True)
        self.assertNotIn(DISABLED, self.traits())

    def test_disabled_while_it_was_down(self):
        self.cell.compute.beat()
        self.report()
        self.cell.db.write(_disable, 'host-2')
        self.cell.compute.beat()
        self.assertTrue(self.cell.compute.site.jobs.wait_quiet(10))
        self.assertIn(DISABLED, self.traits('host-2'))

    def test_traits_of_others_stay(self):
        self.report()
        self.client.providers.change_traits(self.ctxt, self.node().uuid, add=['HW_GPU_API_VULKAN'])
        self.cell.kill()
        self.report()
        self.assertIn('HW_GPU_API_VULKAN', self.traits())


def _disable(connection, host):
    service = services.find(connection, host)
    services.update(connection, service.uuid, {'disabled': True})
