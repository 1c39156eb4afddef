"""[compute]provider_config_location: files of operators, in nova's format."""

import os

import fixtures
import testtools
import yaml

from nova_lite.clients import nested
from nova_lite.clients import registration
from nova_lite.compute import provider_configs

UUID = '11111111-2222-4333-8444-555555555555'
AGENT = nested.Nested('agent', {'NET_BW_IGR_KILOBIT_PER_SEC': {'total': 1}})
NODE = registration.Node(
    uuid=UUID,
    name='host-1',
    inventories={'VCPU': {'total': 4}, 'CUSTOM_SAME': {'total': 1}},
    traits=frozenset(['OWNER_NOVA']),
    children=(AGENT,),
)


def entry(inventories=None, traits=(), **identification):
    return {
        'identification': identification,
        'inventories': {'additional': [{k: v} for k, v in (inventories or {}).items()]},
        'traits': {'additional': list(traits)},
    }


class ProviderConfigsTest(testtools.TestCase):
    def read(self, *files):
        """The configuration of files; each is a list of entries, or the whole document."""
        directory = self.useFixture(fixtures.TempDir()).path
        for number, found in enumerate(files):
            document = found
            if isinstance(found, list):
                document = {'meta': {'schema_version': '1.0'}, 'providers': found}
            with open(os.path.join(directory, f'{number}.yaml'), 'w') as file:
                yaml.safe_dump(document, file)
        return provider_configs.read(directory)

    def refused(self, *files):
        error = provider_configs.ProviderConfigException
        return str(self.assertRaises(error, self.read, *files))

    def test_no_files(self):
        self.assertIs(NODE, provider_configs.read('').add_to(NODE))
        self.assertIs(NODE, self.read().add_to(NODE))
        self.assertIs(NODE, self.read([entry(uuid='$COMPUTE_NODE')]).add_to(NODE))

    def test_a_directory_without_files(self):
        """A directory without files is a wrong path: the log names it."""
        log = self.useFixture(fixtures.FakeLogger())
        provider_configs.read('')
        self.assertEqual('', log.output)
        provider_configs.read('/none')
        self.assertIn('/none has no file with a name that ends with .yaml', log.output)

    def test_all_nodes(self):
        values = {'total': 8, 'reserved': 1, 'step_size': 2, 'allocation_ratio': 2.0}
        made = self.read(
            [entry({'CUSTOM_LICENCE': values}, ['CUSTOM_GOLD'], uuid='$COMPUTE_NODE')]
        ).add_to(NODE)
        self.assertEqual({**values, 'max_unit': 8}, made.inventories['CUSTOM_LICENCE'])
        self.assertEqual({'total': 4}, made.inventories['VCPU'])
        self.assertEqual({'OWNER_NOVA', 'CUSTOM_GOLD'}, made.traits)
        self.assertEqual((AGENT,), made.children)

    def test_a_named_provider(self):
        """Its entry takes the place of that of all nodes."""
        for identification in ({'uuid': UUID}, {'name': 'host-1'}):
            made = self.read(
                [entry(traits=['CUSTOM_GOLD'], uuid='$COMPUTE_NODE')],
                [entry(traits=['CUSTOM_SILVER'], **identification)],
            )
            self.assertEqual({'OWNER_NOVA', 'CUSTOM_SILVER'}, made.add_to(NODE).traits)

    def test_a_nested_provider(self):
        made = self.read(
            [entry({'CUSTOM_A': {'total': 3}}, ['CUSTOM_T'], name='host-1:agent')]
        ).add_to(NODE)
        self.assertEqual(NODE.inventories, made.inventories)
        (child,) = made.children
        self.assertEqual({*AGENT.inventories, 'CUSTOM_A'}, {*child.inventories})
        self.assertEqual({'CUSTOM_T'}, child.traits)

    def test_an_inventory_of_the_host_stays(self):
        made = self.read([entry({'CUSTOM_SAME': {'total': 9}}, uuid='$COMPUTE_NODE')])
        self.assertEqual(NODE.inventories, made.add_to(NODE).inventories)

    def test_refused_files(self):
        self.assertIn('schema_version', self.refused({'meta': {}, 'providers': []}))
        for bad in (
            entry(),
            entry(uuid=UUID, name='x'),
            entry(uuid='x'),
            entry({'VCPU': {'total': 1}}, name='x'),
            entry({'CUSTOM_A': {'total': 0}}, name='x'),
            entry({'CUSTOM_A': {'total': 1 << 31}}, name='x'),
            entry({'CUSTOM_A': {'total': 2, 'reserved': 3}}, name='x'),
            entry({'CUSTOM_A': {}}, name='x'),
            entry({'CUSTOM_A': {'total': 1, 'more': 1}}, name='x'),
            entry(traits=['HW_CPU_X86_AVX'], name='x'),
            {'traits': {}},
        ):
            self.assertIn('0.yaml', self.refused([bad]), bad)
        twice = entry(traits=['CUSTOM_A'], name='x')
        self.assertIn('named twice', self.refused([twice], [twice]))
        self.assertIn('(document)', self.refused('no mapping'))
