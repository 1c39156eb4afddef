"""Ports of servers, on the simulated network service."""

import functools

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import network
from nova_lite.clients import network_lists
from tests.unit.clients import networks


class AllocateTest(networks.NetworkTestCase):
    """Ports made and taken over."""

    def test_a_port_in_one_request(self):
        net = self.make_network()
        self.allocate({'network_id': net})  # the network is known from here on
        info, requests = self.count_requests(self.allocate, {'network_id': net})
        self.assertEqual([('POST', '/network/v2.0/ports')], requests)
        (vif,) = info
        (port,) = (port for port in self.on_server() if port['id'] == vif['id'])
        self.assertEqual(
            (networks.HOST, 'compute:nova', 'wonderland'),
            tuple(port[name] for name in ('binding:host_id', 'device_owner', 'project_id')),
        )

    def test_network_info(self):
        net = self.make_network()
        (vif,) = self.allocate({'network_id': net, 'fixed_ip': '10.20.0.9', 'tag': 'inside'})
        self.assertEqual(
            {
                'type': 'ovs',
                'vnic_type': 'normal',
                'devname': f'tap{vif["id"]}'[:14],
                'active': True,
                'preserve_on_delete': False,
                'tag': 'inside',
            },
            {
                name: vif[name]
                for name in ('type', 'vnic_type', 'devname', 'active', 'preserve_on_delete', 'tag')
            },
        )
        self.assertEqual(
            (net, 'garden', 'br-int', 'wonderland'),
            (
                vif['network']['id'],
                vif['network']['label'],
                vif['network']['bridge'],
                vif['network']['meta']['tenant_id'],
            ),
        )
        (subnet,) = vif['network']['subnets']
        self.assertEqual(
            ('10.20.0.0/24', 4, '10.20.0.1', '10.20.0.2'),
            (
                subnet['cidr'],
                subnet['version'],
                subnet['gateway']['address'],
                subnet['dns'][0]['address'],
            ),
        )
        self.assertEqual(
            [
                {
                    'address': '10.20.0.9',
                    'type': 'fixed',
                    'version': 4,
                    'meta': {},
                    'floating_ips': [],
                }
            ],
            subnet['ips'],
        )
        self.assertEqual('garden', vif['network']['label'])

    def test_nothing(self):
        for wanted in ('none', None, []):
            info, requests = self.count_requests(
                self.network.allocate, self.admin, self.owner, wanted, host=networks.HOST
            )
            self.assertEqual(([], []), (info, requests))

    def test_automatic(self):
        (vif,) = self.network.allocate(self.admin, self.owner, 'auto', host=networks.HOST)
        self.assertEqual('auto_allocated_network', vif['network']['label'])

    def test_a_port_of_the_user(self):
        port = self.make('port', network_id=self.make_network())
        (vif,) = self.allocate({'port_id': port['id']})
        self.assertEqual(
            (port['id'], port['mac_address'], True),
            (vif['id'], vif['address'], vif['preserve_on_delete']),
        )
        self.assertEqual([port['id']], [item['id'] for item in self.on_server()])

    def test_a_port_that_another_server_took(self):
        port = self.make('port', network_id=self.make_network())
        self.network.allocate(
            self.admin, self.server(), [{'port_id': port['id']}], host=networks.HOST
        )
        self.assertRaises(exception.PortInUse, self.allocate, {'port_id': port['id']})
        self.assertEqual([], self.on_server())

    def test_a_port_that_changes_while_it_is_taken(self):
        """The service refuses what was decided on an older revision of the port."""
        port = self.make('port', network_id=self.make_network())
        read = self.network.get_port

        def read_and_lose(ctxt, port_id):
            before = read(ctxt, port_id)
            other = network.Network(self.credentials)
            other.allocate(ctxt, self.server(), [{'port_id': port_id}], host='elsewhere')
            return before

        self.network.get_port = read_and_lose
        self.assertRaises(exception.PortInUse, self.allocate, {'port_id': port['id']})
        self.assertEqual('elsewhere', read(self.admin, port['id'])['binding:host_id'])

    def test_again(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        wanted = [{'network_id': net}, {'port_id': port['id']}, {'network_id': net}]
        before = [vif['id'] for vif in self.allocate(*wanted[:2])]
        after = [vif['id'] for vif in self.allocate(*wanted, again=True)]
        self.assertEqual(before, after[:2])
        self.assertEqual(set(after), {item['id'] for item in self.on_server()})

    def test_network_with_a_guarantee(self):
        """Its port is refused, also if it was made by an attempt that did not come to that."""
        post = functools.partial(self.network.service.call, self.admin, 'POST')
        made = post('/qos/policies', json={'policy': {'name': 'guarantee'}}).json()
        policy = made['policy']['id']
        rule = {'minimum_bandwidth_rule': {'min_kbps': 1, 'direction': 'egress'}}
        post(f'/qos/policies/{policy}/minimum_bandwidth_rules', json=rule)
        net = self.make_network()
        own = {'network_id': net, 'device_id': self.owner.uuid, 'qos_policy_id': policy}
        post('/ports', json={'port': own})
        refused = exception.NetworksWithQoSPolicyNotSupported
        self.assertRaises(refused, self.allocate, {'network_id': net}, again=True)
        self.assertEqual([], self.on_server())

    def test_nothing_stays_after_an_error(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        bad = {'network_id': net, 'fixed_ip': '10.20.0.9'}
        self.make('port', network_id=net, fixed_ips=[{'ip_address': '10.20.0.9'}])
        self.assertRaises(
            exception.FixedIpInUse, self.allocate, {'network_id': net}, {'port_id': port['id']}, bad
        )
        self.assertEqual([], self.on_server())
        self.assertEqual('', self.network.get_port(self.admin, port['id'])['device_id'])

    def test_errors(self):
        net = self.make_network(cidr='10.20.0.0/29')
        for wanted, expected in (
            ({'network_id': runtime.new_uuid()}, exception.NetworkNotUsable),
            ({'network_id': net, 'fixed_ip': '192.0.2.1'}, exception.Invalid),
            ({'port_id': runtime.new_uuid()}, exception.PortNotFound),
        ):
            self.assertRaises(expected, self.allocate, wanted)
        self.assertRaises(exception.NoMoreFixedIps, self.allocate, *[{'network_id': net}] * 8)
        self.set_quota(1)
        self.assertRaises(exception.OverQuota, self.allocate, *[{'network_id': net}] * 2)

    def test_one_more(self):
        net = self.make_network()
        (first,) = self.allocate({'network_id': net})
        request, known = {'network_id': net, 'tag': 'blue'}, [first['id']]
        made = [
            self.network.attach(self.admin, self.owner, request, host=networks.HOST, known=known)
            for _time in range(2)
        ]
        self.assertEqual(made[0]['id'], made[1]['id'])
        self.assertNotEqual(first['id'], made[0]['id'])
        self.assertEqual('blue', made[0]['tag'])
        for _time in range(2):
            self.network.undo_attach(self.admin, self.owner.uuid, request, known=known)
            self.assertEqual(known, [port['id'] for port in self.on_server()])

    def test_release_of_what_is_anothers_by_now(self):
        net = self.make_network()
        (vif,) = self.allocate({'network_id': net})
        self.network.release_from(self.admin, runtime.new_uuid(), [vif])
        self.assertEqual([vif['id']], [port['id'] for port in self.on_server()])
        self.network.release_from(self.admin, self.owner.uuid, [vif])
        self.assertEqual([], self.on_server())

    def test_given_back(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        info = self.allocate({'network_id': net}, {'port_id': port['id']})
        for _ in range(2):
            self.network.deallocate(self.admin, self.owner.uuid, info)
            self.assertEqual([], self.on_server())
        kept = self.network.get_port(self.admin, port['id'])
        self.assertEqual(
            ('', '', ''), (kept['device_id'], kept['device_owner'], kept['binding:host_id'])
        )
        self.assertRaises(exception.PortNotFound, self.network.get_port, self.admin, info[0]['id'])

    def test_ports_of_several_servers(self):
        net = self.make_network()
        (vif,) = self.allocate({'network_id': net})
        other = runtime.new_uuid()
        held = self.network.held_by(self.admin, [self.owner.uuid, other])
        self.assertEqual([], held[other])
        (port,) = held[self.owner.uuid]
        self.assertEqual(vif['id'], port['id'])
        self.network.deallocate(self.admin, self.owner.uuid, [vif], ports=[port])
        self.assertEqual([], self.on_server())

    def test_profiles_of_owners_stay(self):
        """An owner's port asks the next host for the same: only the device goes."""
        own, device = {'trusted': 'true', 'capabilities': ['switchdev']}, {'pci_slot': '0:1:2.3'}
        net = self.make_network()
        for give_back in (
            lambda info: self.network.deallocate(self.admin, self.owner.uuid, info),
            lambda info: self.network.release_from(self.admin, self.owner.uuid, info),
            lambda info: self.network.undo_attach(
                self.admin, self.owner.uuid, {'port_id': info[0]['id']}, known=()
            ),
        ):
            port = self.make('port', network_id=net)
            self.network.service.call(
                self.admin, 'PUT', f'/ports/{port["id"]}', json={'port': {'binding:profile': own}}
            )
            info = self.allocate({'port_id': port['id'], 'binding:profile': device})
            bound = self.network.get_port(self.admin, port['id'])
            self.assertEqual({**own, **device}, bound['binding:profile'])
            give_back(info)
            kept = self.network.get_port(self.admin, port['id'])
            self.assertEqual(('', own), (kept['device_id'], kept['binding:profile']))


class InfoTest(networks.NetworkTestCase):
    """network_info read anew."""

    def info(self, known=()):
        return self.network.info(self.admin, self.owner.uuid, known)

    def test_decisions_and_order_are_kept(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        known = self.allocate(
            {'port_id': port['id']}, {'network_id': net, 'tag': 'b'}, {'network_id': net}
        )
        self.assertEqual(known, self.info(known))
        (added,) = self.allocate({'network_id': net})
        self.network.release(self.admin, [known[2]])
        self.assertEqual([*known[:2], added], self.info(known))

    def test_no_ports(self):
        self.assertEqual([], self.info())

    def test_floating_address(self):
        shared = self.network.list(self.admin, 'networks', shared=True)[0]
        external = self.network.list(self.admin, 'networks', **{'router:external': True})[0]
        router = self.make(
            'router', self.operator, external_gateway_info={'network_id': external['id']}
        )
        self.network.service.call(
            self.operator,
            'PUT',
            f'/routers/{router["id"]}/add_router_interface',
            json={'subnet_id': shared['subnets'][0]},
        )
        known = self.allocate({'network_id': shared['id']})
        floating = self.make(
            'floatingip', floating_network_id=external['id'], port_id=known[0]['id']
        )
        ip = self.info(known)[0]['network']['subnets'][0]['ips'][0]
        self.assertEqual(
            [floating['floating_ip_address']], [item['address'] for item in ip['floating_ips']]
        )

    def test_subnets(self):
        (subnet,) = self.network.list_subnets(self.admin, network_id=self.make_network())
        self.assertEqual(subnet, self.network.get_subnet(self.admin, subnet['id']))
        self.assertRaises(exception.SubnetNotFound, self.network.get_subnet, self.admin, 'x')

    def test_ids_of_any_number(self):
        made = self.make_network()
        ids = [made, *(runtime.new_uuid() for _ in range(network_lists.MOST_IDS)), made]
        found, requests = self.count_requests(
            self.network.list, self.admin, 'networks', id=sorted(ids), fields=['id']
        )
        self.assertEqual({made}, {each['id'] for each in found})
        self.assertEqual(2, len(requests))
        ports = [runtime.new_uuid() for _ in range(network_lists.MOST_IDS + 1)]
        found, requests = self.count_requests(
            self.network.list, self.admin, 'floatingips', port_id=ports
        )
        self.assertEqual(([], 2), (found, len(requests)))

    def test_resource_request(self):
        self.allocate({'network_id': self.make_network()})
        self.assertFalse(self.network.has_resource_request(self.admin, self.owner.uuid))

    def test_extension(self):
        self.assertTrue(self.network.has_extension(self.admin, 'binding-extended'))
        found, requests = self.count_requests(self.network.has_extension, self.admin, 'nonsense')
        self.assertEqual((False, []), (found, requests))
