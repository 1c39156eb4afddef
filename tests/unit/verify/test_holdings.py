"""Allocations that servers should have in placement (I4)."""

import types

import testtools

from nova_lite.verify import holdings
from tests.unit.manage import base

SERVER, NODE = 'a server', 'a node'


class ExpectedTest(testtools.TestCase):
    def expected(self, held, **extra_specs):
        row = types.SimpleNamespace(
            uuid=SERVER,
            host='h',
            node='h',
            hidden=False,
            vm_state='active',
            flavor={**base.FLAVOR, 'extra_specs': extra_specs},
        )
        node = types.SimpleNamespace(host='h', hypervisor_hostname='h', uuid=NODE, numa=None)
        cell = types.SimpleNamespace(nodes=[node], migrations=[], down=frozenset())
        snapshot = types.SimpleNamespace(
            cells=[cell],
            instances=lambda: [(cell, row)],
            specs={SERVER: {'is_bfv': True}},
            allocations={SERVER: {NODE: held}},
            sagas=[],
            ports=[],
            port_allocations={},
        )
        return holdings.expected(snapshot)[SERVER][NODE]

    def test_sizes(self):
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 512}, self.expected({}))

    def test_resources_of_extra_specs_in_all_groups(self):
        specs = {'resources:VCPU': '1', 'resources:CUSTOM_A': '1', 'resources_1:CUSTOM_A': '2'}
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 512, 'CUSTOM_A': 3}, self.expected({}, **specs))

    def test_dedicated_cpus(self):
        """PCPU, or VCPU on a host that has no others."""
        rest, specs = {'MEMORY_MB': 512}, {'hw:cpu_policy': 'dedicated'}
        self.assertEqual({'PCPU': 2, **rest}, self.expected({'PCPU': 1}, **specs))
        self.assertEqual({'VCPU': 2, **rest}, self.expected({'VCPU': 2, **rest}, **specs))
