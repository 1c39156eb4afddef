"""Registration of many compute nodes, on the real placement."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import registration
from tests.unit.clients import base


class RegistrationTest(base.PlacementTestCase):
    """Nodes in, providers out."""

    def nodes(self, count, **options):
        options = {
            'inventories': base.inventories(),
            'traits': frozenset(['OWNER_NOVA', 'CUSTOM_FLEET']),
            **options,
        }
        return [
            registration.Node(runtime.new_uuid(), f'host-{number}', **options)
            for number in range(count)
        ]

    def register(self, nodes):
        return registration.Registration(self.providers, threads=2).register(self.admin, nodes)

    def state(self, node):
        inventories, _ = self.providers.inventories(self.admin, node.uuid)
        return (
            self.providers.get(self.admin, node.uuid).name,
            inventories['VCPU']['total'],
            self.providers.traits(self.admin, node.uuid)[0],
        )

    def test_many(self):
        nodes = self.nodes(20)
        self.assertEqual({}, self.register(nodes))
        for node in nodes:
            self.assertEqual((node.name, 4, {'OWNER_NOVA', 'CUSTOM_FLEET'}), self.state(node))

    def test_none(self):
        self.assertEqual({}, self.register([]))

    def test_again_reads_only(self):
        nodes = self.nodes(6)
        self.register(nodes)
        failed, requests = self.count_requests(self.register, nodes)
        self.assertEqual({}, failed)
        self.assertEqual({'GET'}, {method for method, _ in requests})

    def test_again_with_changes(self):
        nodes = self.nodes(6)
        self.register(nodes)
        self.providers.change_traits(self.admin, nodes[0].uuid, add=['CUSTOM_OPERATOR'])
        changed = [
            registration.Node(
                node.uuid,
                node.name + '.example',
                base.inventories(vcpus=8),
                frozenset(['OWNER_NOVA']),
                frozenset(['CUSTOM_FLEET']),
            )
            for node in nodes
        ]
        self.assertEqual({}, self.register(changed))
        self.assertEqual(
            ('host-0.example', 8, {'OWNER_NOVA', 'CUSTOM_OPERATOR'}), self.state(changed[0])
        )
        self.assertEqual(('host-5.example', 8, {'OWNER_NOVA'}), self.state(changed[5]))

    def test_a_name_that_is_taken_does_not_stop_the_others(self):
        self.add_host('host-1')
        nodes = self.nodes(6)
        failed = self.register(nodes)
        self.assertEqual([nodes[1].uuid], list(failed))
        self.assertIsInstance(failed[nodes[1].uuid], exception.AlreadyExists)
        self.assertEqual(6, len(self.providers.list(self.admin)))
