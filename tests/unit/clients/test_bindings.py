"""Ports on the move, on the simulated network service."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import vifs
from tests.unit.clients import networks


class BindingTest(networks.NetworkTestCase):
    """Ports on the move."""

    def setUp(self):
        super().setUp()
        net = self.make_network()
        self.info = self.allocate({'network_id': net}, {'network_id': net})
        self.ids = vifs.port_ids(self.info)
        self.bindings = self.network.bindings

    def hosts(self):
        return [
            {(item['host'], item['status']) for item in self.bindings.list(self.admin, one)}
            for one in self.ids
        ]

    def test_supported(self):
        self.assertTrue(self.bindings.are_supported(self.admin))

    def test_there_and_back(self):
        for step, args, expected in (
            (
                self.bindings.create,
                (self.info, 'dest'),
                {(networks.HOST, 'ACTIVE'), ('dest', 'INACTIVE')},
            ),
            (
                self.bindings.activate,
                (self.ids, 'dest'),
                {(networks.HOST, 'INACTIVE'), ('dest', 'ACTIVE')},
            ),
            (
                self.bindings.activate,
                (self.ids, networks.HOST),
                {(networks.HOST, 'ACTIVE'), ('dest', 'INACTIVE')},
            ),
            (self.bindings.delete, (self.ids, 'dest'), {(networks.HOST, 'ACTIVE')}),
        ):
            for _ in range(2):
                step(self.admin, *args)
                self.assertEqual([expected] * 2, self.hosts())

    def test_back_to_a_binding_that_was_unbound(self):
        """Also if an earlier attempt was stopped after the activation."""
        port_id = self.ids[0]
        self.bindings.create(self.admin, self.info, 'dest')
        self.bindings.activate(self.admin, self.ids, 'dest')
        path = f'/ports/{port_id}/bindings/{networks.HOST}/activate'
        answer = self.network.service.call(self.admin, 'PUT', path)
        self.assertEqual('unbound', answer.json()['vif_type'])
        self.assertEqual('DOWN', self.network.get_port(self.admin, port_id)['status'])
        self.bindings.activate(self.admin, self.ids, networks.HOST)
        port = self.network.get_port(self.admin, port_id)
        self.assertEqual(('ovs', 'ACTIVE'), (port['binding:vif_type'], port['status']))

    def test_activation_of_a_binding_that_is_not_there(self):
        error = self.assertRaises(
            exception.PortBindingFailed, self.bindings.activate, self.admin, self.ids, 'dest'
        )
        self.assertIn(self.ids[0], error.message)

    def test_all_or_none(self):
        gone = {**self.info[1], 'id': runtime.new_uuid()}
        self.assertRaises(
            exception.PortBindingFailed,
            self.bindings.create,
            self.admin,
            [self.info[0], gone],
            'dest',
        )
        self.assertEqual([{(networks.HOST, 'ACTIVE')}] * 2, self.hosts())

    def profiles(self, port_id):
        found = self.bindings.list(self.admin, port_id)
        return {each['host']: each['profile'] for each in found}

    def test_allocations(self):
        """Each binding says what is allocated on its host, also one that was made before."""
        first, second = self.ids
        info = [{**vif, 'profile': {'allocation': 'left', 'other': 1}} for vif in self.info]
        for found in ('one', 'two'):
            self.bindings.create(self.admin, info, 'dest', allocations={first: found})
            self.assertEqual({'allocation': found, 'other': 1}, self.profiles(first)['dest'])
            self.assertEqual({'other': 1}, self.profiles(second)['dest'])
        self.network.move(self.admin, info, 'dest', allocations={second: {'g': 'three'}})
        self.assertEqual({'dest': {'other': 1}}, self.profiles(first))
        self.assertEqual(
            {'dest': {'allocation': {'g': 'three'}, 'other': 1}}, self.profiles(second)
        )
        self.network.unbind(self.admin, info)
        self.assertEqual({'': {'other': 1}}, self.profiles(second))

    def test_moved_at_once(self):
        deleted = {'id': runtime.new_uuid()}
        self.network.move(self.admin, [deleted, *self.info], 'dest')
        self.assertEqual([{('dest', 'ACTIVE')}] * 2, self.hosts())
