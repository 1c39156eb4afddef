"""Registration of many compute nodes, on the real placement."""

import collections
import dataclasses

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import nested
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

    def test_requests_of_new_nodes(self):
        """Three for each, and one that lists what is there."""
        self.providers.service.call(self.admin, 'PUT', '/traits/CUSTOM_FLEET')
        _failed, requests = self.count_requests(self.register, self.nodes(5))
        self.assertEqual(
            {'GET': 1, 'POST': 5, 'PUT': 10},
            collections.Counter(method for method, _path in requests),
        )

    def test_none(self):
        self.assertEqual({}, self.register([]))

    def test_again_reads_only(self):
        nodes = self.nodes(6)
        self.register(nodes)
        failed, requests = self.count_requests(self.register, nodes)
        self.assertEqual({}, failed)
        self.assertEqual({'GET'}, {method for method, _ in requests})

    def test_nested(self):
        """They are made, changed and removed with their node; those of others stay."""
        agent = nested.Nested('agent', {}, frozenset(['CUSTOM_VNIC_TYPE_NORMAL']))
        bridge = nested.Nested(
            'agent:br', {'NET_BW_EGR_KILOBIT_PER_SEC': {'total': 1000}}, parent='agent'
        )
        for count in (1, 6):
            (node, *_) = nodes = self.nodes(count, children=(agent, bridge))
            self.assertEqual({}, self.register(nodes))
            made = self.tree(node)
            self.assertEqual(
                [node.name, f'{node.name}:agent', f'{node.name}:agent:br'], sorted(made)
            )
            br = made[f'{node.name}:agent:br']
            self.assertEqual(made[f'{node.name}:agent'].uuid, br.parent)
            self.assertEqual(
                1000,
                self.providers.inventories(self.admin, br.uuid)[0]['NET_BW_EGR_KILOBIT_PER_SEC'][
                    'total'
                ],
            )
            self.providers.ensure(
                self.admin, runtime.new_uuid(), f'{node.name}:other', parent=node.uuid
            )
            bare = [dataclasses.replace(each, children=()) for each in nodes]
            self.assertEqual({}, self.register(bare))
            self.assertEqual([node.name, f'{node.name}:other'], sorted(self.tree(node)))
            for each in nodes:
                self.providers.delete_tree(self.admin, each.uuid)
        self.assertEqual([], self.providers.list(self.admin))

    def test_nested_with_a_separator(self):
        """A provider is removed whatever stands between the names, also after it was renamed."""
        plain = nested.Nested('0000:81:00.0', {})
        named = dataclasses.replace(plain, separator='_')
        (node,) = self.nodes(1, children=(plain,))
        for children, names in (
            ((plain,), [node.name, f'{node.name}:0000:81:00.0']),
            ((named,), [node.name, f'{node.name}_0000:81:00.0']),
            ((), [node.name]),
        ):
            self.assertEqual({}, self.register([dataclasses.replace(node, children=children)]))
            self.assertEqual(names, sorted(self.tree(node)))

    def test_nested_with_traits_of_operators(self):
        gpu = nested.Nested('gpu', {}, frozenset(('CUSTOM_A',)), keeps_traits=True)
        (node,) = self.nodes(1, children=(gpu,))
        self.register([node])
        uuid = self.tree(node)[f'{node.name}:gpu'].uuid
        self.providers.set_traits(self.admin, uuid, ['CUSTOM_OWN'])
        former = {'traits': frozenset(), 'not_traits': frozenset(('CUSTOM_A',))}
        self.register([dataclasses.replace(node, children=(dataclasses.replace(gpu, **former),))])
        self.assertEqual({'CUSTOM_OWN'}, self.providers.traits(self.admin, uuid)[0])
        changed = dataclasses.replace(gpu, inventories={'VGPU': {'total': 1}})
        plain = dataclasses.replace(gpu, keeps_traits=False)
        for child, expected in ((changed, {'CUSTOM_A', 'CUSTOM_OWN'}), (plain, {'CUSTOM_A'})):
            self.register([dataclasses.replace(node, children=(child,))])
            self.assertEqual(expected, self.providers.traits(self.admin, uuid)[0])

    def test_nested_in_use(self):
        """A provider that a server uses stays, and so does its parent, until it is free."""
        bridge = nested.Nested('br', {'NET_BW_EGR_KILOBIT_PER_SEC': {'total': 1000}})
        (node,) = self.nodes(1, children=(bridge,))
        self.register([node])
        uuid = self.tree(node)[f'{node.name}:br'].uuid
        consumer = base.consumer()
        wanted = {'allocations': {uuid: {'resources': {'NET_BW_EGR_KILOBIT_PER_SEC': 10}}}}
        self.placement.claim(self.admin, consumer, wanted)
        bare = dataclasses.replace(node, children=())
        self.assertEqual({}, self.register([bare]))
        self.assertIn(f'{node.name}:br', self.tree(node))
        self.placement.delete_allocations(self.admin, consumer.uuid)
        self.register([bare])
        self.assertNotIn(f'{node.name}:br', self.tree(node))

    def tree(self, node):
        return {each.name: each for each in self.providers.list(self.admin, in_tree=node.uuid)}

    def test_nested_with_a_class_in_use(self):
        """The class stays, and the node is registered all the same."""
        egress, ingress = 'NET_BW_EGR_KILOBIT_PER_SEC', 'NET_BW_IGR_KILOBIT_PER_SEC'
        both = {egress: {'total': 1000}, ingress: {'total': 1000}}
        (node,) = self.nodes(1, children=(nested.Nested('br', both),))
        self.register([node])
        provider = self.tree(node)[f'{node.name}:br'].uuid
        wanted = {'allocations': {provider: {'resources': {egress: 5}}}}
        self.placement.claim(self.admin, base.consumer(), wanted, new=True)
        less = (nested.Nested('br', {ingress: {'total': 500}}),)
        more = {**node.inventories, 'VCPU': {'total': 77}}
        changed = dataclasses.replace(node, children=less, inventories=more)
        self.assertEqual({}, self.register([changed]))
        self.assertEqual(77, self.providers.inventories(self.admin, node.uuid)[0]['VCPU']['total'])
        self.assertIn(egress, self.providers.inventories(self.admin, provider)[0])

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
