"""Ports on the move, on the simulated network service."""

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import owned_ports
from tests.unit.clients import networks


class BindingTest(networks.NetworkTestCase):
    """Ports on the move."""

    def setUp(self):
        super().setUp()
        net = self.make_network()
        self.info = self.allocate({'network_id': net}, {'network_id': net})
        self.ids = [vif['id'] for vif in self.info]
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
                (self.owner.uuid, self.info, 'dest'),
                {(networks.HOST, 'ACTIVE'), ('dest', 'INACTIVE')},
            ),
            (
                self.bindings.activate,
                (self.owner.uuid, self.info, 'dest'),
                {(networks.HOST, 'INACTIVE'), ('dest', 'ACTIVE')},
            ),
            (
                self.bindings.activate,
                (self.owner.uuid, self.info, networks.HOST),
                {(networks.HOST, 'ACTIVE'), ('dest', 'INACTIVE')},
            ),
            (
                self.bindings.delete,
                (self.owner.uuid, self.info, 'dest'),
                {(networks.HOST, 'ACTIVE')},
            ),
        ):
            for _ in range(2):
                step(self.admin, *args)
                self.assertEqual([expected] * 2, self.hosts())

    def test_back_to_a_binding_that_was_unbound(self):
        """Also if an earlier attempt was stopped after the activation."""
        port_id = self.ids[0]
        self.bindings.create(self.admin, self.owner.uuid, self.info, 'dest')
        self.bindings.activate(self.admin, self.owner.uuid, self.info, 'dest')
        path = f'/ports/{port_id}/bindings/{networks.HOST}/activate'
        answer = self.network.service.call(self.admin, 'PUT', path)
        self.assertEqual('unbound', answer.json()['vif_type'])
        self.assertEqual('DOWN', self.network.get_port(self.admin, port_id)['status'])
        self.bindings.activate(self.admin, self.owner.uuid, self.info, networks.HOST)
        port = self.network.get_port(self.admin, port_id)
        self.assertEqual(('ovs', 'ACTIVE'), (port['binding:vif_type'], port['status']))

    def test_activation_makes_a_binding_that_was_deleted(self):
        self.bindings.activate(self.admin, self.owner.uuid, self.info, 'dest')
        self.assertEqual([{(networks.HOST, 'INACTIVE'), ('dest', 'ACTIVE')}] * 2, self.hosts())

    def test_all_or_none(self):
        refused = {**self.info[1], 'vnic_type': 'odd'}
        self.assertRaises(
            exception.PortBindingFailed,
            self.bindings.create,
            self.admin,
            self.owner.uuid,
            [self.info[0], refused],
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
            self.bindings.create(
                self.admin, self.owner.uuid, info, 'dest', allocations={first: found}
            )
            self.assertEqual({'allocation': found, 'other': 1}, self.profiles(first)['dest'])
            self.assertEqual({'other': 1}, self.profiles(second)['dest'])
        given = {second: {'g': 'three'}}
        self.network.move(self.admin, self.owner.uuid, info, 'dest', allocations=given)
        self.assertEqual({'dest': {'other': 1}}, self.profiles(first))
        self.assertEqual(
            {'dest': {'allocation': {'g': 'three'}, 'other': 1}}, self.profiles(second)
        )
        self.network.unbind(self.admin, self.owner.uuid, info)
        self.assertEqual({'': {'other': 1}}, self.profiles(second))

    def test_a_device_that_the_record_lacks(self):
        """An unshelve that fails has written the device of its host. The port loses it."""
        wanted = {'physical_network': None, 'trusted': True, 'numa_policy': None}
        info = [{**vif, 'profile': {'trusted': 'true'}, 'device': wanted} for vif in self.info]
        self.network.move(self.admin, self.owner.uuid, info, 'dest')
        devices = {port: {'pci_slot': '0000:81:01.0'} for port in self.ids}
        self.bindings.put_devices(self.admin, self.owner.uuid, devices, 'dest')
        for port in self.ids:
            self.assertEqual(
                {'dest': {'trusted': 'true', 'pci_slot': '0000:81:01.0'}}, self.profiles(port)
            )
        self.network.unbind(self.admin, self.owner.uuid, info)
        for port in self.ids:
            self.assertEqual({'': {'trusted': 'true'}}, self.profiles(port))

    def test_moved_at_once(self):
        self.network.move(self.admin, self.owner.uuid, self.info, 'dest')
        self.assertEqual([{('dest', 'ACTIVE')}] * 2, self.hosts())


class OwnedTest(testscenarios.WithScenarios, networks.NetworkTestCase):
    """One port of two is not the server's any more."""

    scenarios = (
        ('deleted', {'lose': lambda self: self.network.release(self.admin, [self.lost])}),
        ('given to another server', {'lose': lambda self: self.give(runtime.new_uuid())}),
    )

    def setUp(self):
        super().setUp()
        net = self.make_network()
        self.info = self.allocate({'network_id': net}, {'network_id': net})
        self.lost, self.kept = self.info

    def give(self, device):
        body = {'port': {'device_id': device, 'binding:host_id': 'of-others'}}
        self.network.service.call(self.admin, 'PUT', f'/ports/{self.lost["id"]}', json=body)

    def all_bindings(self):
        """{port id: {(host, status)}} of the ports that exist."""
        ports = self.network.list(self.admin, 'ports', id=[vif['id'] for vif in self.info])
        listed = {port['id']: self.network.bindings.list(self.admin, port['id']) for port in ports}
        return {
            port_id: {(each['host'], each['status']) for each in found}
            for port_id, found in listed.items()
        }

    def test_moves_pass_over_it(self):
        self.lose(self)
        others = {id_: each for id_, each in self.all_bindings().items() if id_ != self.kept['id']}
        bindings, network = self.network.bindings, self.network
        both = {(networks.HOST, 'ACTIVE'), ('dest', 'INACTIVE')}
        there = {(networks.HOST, 'INACTIVE'), ('dest', 'ACTIVE')}
        for act, more, expected in (
            (bindings.create, ('dest',), both),
            (bindings.activate, ('dest',), there),
            (bindings.activate, (networks.HOST,), both),
            (bindings.delete, ('dest',), {(networks.HOST, 'ACTIVE')}),
            (network.move, ('dest',), {('dest', 'ACTIVE')}),
            (network.unbind, (), {('', 'ACTIVE')}),
        ):
            act(self.admin, self.owner.uuid, self.info, *more)
            self.assertEqual({**others, self.kept['id']: expected}, self.all_bindings())

    def test_lost_between_the_look_and_the_call(self):
        ports = owned_ports.OwnedPorts(self.network, self.admin, self.owner.uuid)

        def act(vif):
            if vif is self.lost:
                self.lose(self)
                raise exception.PortBindingFailed(port_id=vif['id'], host='h', reason='gone')

        self.assertEqual([self.kept], ports.each(self.info, act))

    def test_an_error_of_a_port_that_is_its_own_counts(self):
        def act(vif):
            raise exception.PortBindingFailed(port_id=vif['id'], host='h', reason='refused')

        ports = owned_ports.OwnedPorts(self.network, self.admin, self.owner.uuid)
        self.assertRaises(exception.PortBindingFailed, ports.each, self.info, act)
