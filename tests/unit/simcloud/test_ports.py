"""Ports: addresses, filters, who may set what."""

from tests.unit.simcloud import base

PORTS = '/network/v2.0/ports'


class PortTestCase(base.SimCloudTestCase):
    def test_port_as_nova_makes_it(self):
        port = self.port(
            device_id='server',
            device_owner='compute:nova',
            tenant_id='p',
            admin_state_up=True,
            **{'binding:host_id': 'h1'},
        )
        self.assertEqual(
            ('p', 'ACTIVE', 'ovs', 'h1', 'normal'),
            (
                port['project_id'],
                port['status'],
                port['binding:vif_type'],
                port['binding:host_id'],
                port['binding:vnic_type'],
            ),
        )
        self.assertEqual(1, len(port['fixed_ips']))
        self.assertEqual(1, len(port['security_groups']))
        self.assertTrue(port['mac_address'].startswith('fa:16:3e:'))
        self.admin.delete(f'{PORTS}/{port["id"]}')
        self.admin.get(f'{PORTS}/{port["id"]}', expect=404)
        self.assertEqual(
            'PortNotFound',
            self.admin.delete(f'{PORTS}/{port["id"]}', expect=404)['NeutronError']['type'],
        )

    def test_addresses_are_given_once_and_not_again_at_once(self):
        first, second = self.port(), self.port()
        address = first['fixed_ips'][0]['ip_address']
        self.assertNotEqual(address, second['fixed_ips'][0]['ip_address'])
        self.admin.delete(f'{PORTS}/{first["id"]}')
        self.assertNotEqual(address, self.port()['fixed_ips'][0]['ip_address'])

    def test_named_addresses(self):
        port = self.port(fixed_ips=[{'ip_address': '10.1.3.4'}])
        self.assertEqual('10.1.3.4', port['fixed_ips'][0]['ip_address'])
        body = {'network_id': port['network_id']}
        for status, kind, fixed_ips in (
            (409, 'IpAddressAlreadyAllocated', [{'ip_address': '10.1.3.4'}]),
            (400, 'InvalidIpForNetwork', [{'ip_address': '10.2.0.1'}]),
            (400, 'InvalidIpForSubnet', [{'ip_address': '10.1.0.0'}]),
            (400, 'InvalidInput', [{'ip_address': 'nonsense'}]),
            (400, 'InvalidInput', [{'subnet_id': 'nothing'}]),
            (400, 'InvalidInput', [{'ip_address': '10.1.3.5'}] * 2),
        ):
            fault = self.admin.post(
                PORTS, {'port': {**body, 'fixed_ips': fixed_ips}}, expect=status
            )
            self.assertEqual(kind, fault['NeutronError']['type'], fixed_ips)

    def test_pool_is_used_to_its_end_and_then_again(self):
        network = self.demo.post('/network/v2.0/networks', {'network': {}})['network']
        self.demo.post(
            '/network/v2.0/subnets',
            {'subnet': {'network_id': network['id'], 'cidr': '192.0.2.0/29', 'ip_version': 4}},
        )
        body = {'port': {'network_id': network['id']}}
        made = [self.demo.post(PORTS, body)['port'] for _ in range(5)]
        fault = self.demo.post(PORTS, body, expect=409)
        self.assertEqual('IpAddressGenerationFailure', fault['NeutronError']['type'])
        self.demo.delete(f'{PORTS}/{made[2]["id"]}')
        again = self.demo.post(PORTS, body)['port']
        self.assertEqual(made[2]['fixed_ips'], again['fixed_ips'])

    def test_addresses_change_and_stay(self):
        port = self.port()
        path, kept = f'{PORTS}/{port["id"]}', port['fixed_ips'][0]
        wanted = [kept, {'ip_address': '10.1.7.7'}]
        changed = self.admin.put(path, {'port': {'fixed_ips': wanted}})['port']
        self.assertEqual(
            [kept['ip_address'], '10.1.7.7'], [one['ip_address'] for one in changed['fixed_ips']]
        )
        only_subnet = {'port': {'fixed_ips': [{'subnet_id': kept['subnet_id']}]}}
        self.assertEqual(1, len(self.admin.put(path, only_subnet)['port']['fixed_ips']))
        self.assertEqual([], self.admin.put(path, {'port': {'fixed_ips': []}})['port']['fixed_ips'])
        self.port(fixed_ips=[kept])

    def test_lists_are_narrowed(self):
        one = self.port(
            device_id='a', device_owner='compute:z1', tenant_id='p', **{'binding:host_id': 'h1'}
        )
        two = self.port(device_id='b', device_owner='compute:z2', tenant_id='q')
        address = one['fixed_ips'][0]['ip_address']

        def ids(query):
            return {port['id'] for port in self.admin.get(f'{PORTS}?{query}')['ports']}

        for query in (
            'device_id=a',
            'tenant_id=p',
            'binding:host_id=h1',
            'project_id=p',
            f'fixed_ips=ip_address%3D{address}',
            'device_owner=compute:z1',
            f'mac_address={one["mac_address"]}',
            f'id={one["id"]}',
            'device_id=a&tenant_id=p&binding:host_id=h1',
            f'status=ACTIVE&network_id={one["network_id"]}',
            f'security_groups={one["security_groups"][0]}',
        ):
            self.assertEqual({one['id']}, ids(query), query)
        self.assertEqual({one['id'], two['id']}, ids('device_id=a&device_id=b'))
        self.assertEqual(set(), ids('device_id=a&tenant_id=q'))
        self.assertEqual(
            [{'id': two['id'], 'device_id': 'b'}],
            self.admin.get(f'{PORTS}?device_id=b&fields=id&fields=device_id')['ports'],
        )
        self.admin.get(f'{PORTS}?fixed_ips=colour%3Dred', expect=400)

    def test_users_do_not_see_or_set_hosts(self):
        body = {'network_id': self.network_id('shared')}
        port = self.demo.post(PORTS, {'port': body})['port']
        self.assertNotIn('binding:host_id', port)
        self.assertIn('binding:vnic_type', port)
        path = f'{PORTS}/{port["id"]}'
        for values in (
            {'binding:host_id': 'h'},
            {'binding:profile': {'a': 'b'}},
            {'fixed_ips': [{'ip_address': '10.1.9.9'}]},
            {'mac_address': 'fa:16:3e:00:00:01'},
        ):
            self.demo.put(path, {'port': values}, expect=403)
            self.demo.post(PORTS, {'port': {**body, **values}}, expect=403)
        for values in ({'binding:host_id': ''}, {'binding:profile': {}}, {'binding:profile': None}):
            self.demo.put(path, {'port': values}, expect=403)
        self.demo.post(PORTS, {'port': {**body, 'tenant_id': 'other'}}, expect=403)
        private = self.network_id('private')
        self.demo.post(
            PORTS, {'port': {'network_id': private, 'fixed_ips': [{'ip_address': '10.0.9.9'}]}}
        )
        self.believed('u', 'elsewhere', 'member').get(path, expect=404)

    def test_unplugging_as_nova_does_it(self):
        port = self.port(
            device_id='s',
            device_owner='compute:nova',
            **{'binding:host_id': 'h', 'binding:profile': {'k': 'v'}},
        )
        changed = self.admin.put(
            f'{PORTS}/{port["id"]}',
            {
                'port': {
                    'device_id': '',
                    'device_owner': '',
                    'binding:host_id': None,
                    'binding:profile': {},
                }
            },
        )['port']
        self.assertEqual(
            ('', '', '', {}, 'unbound', 'DOWN'),
            (
                changed['device_id'],
                changed['device_owner'],
                changed['binding:host_id'],
                changed['binding:profile'],
                changed['binding:vif_type'],
                changed['status'],
            ),
        )

    def test_mac_addresses_are_alone_on_their_network(self):
        port = self.port(mac_address='fa:16:3e:AA:00:01')
        broken = {'network_id': port['network_id'], 'mac_address': 'fa:16:3e:aa:00:03\n'}
        self.admin.post(PORTS, {'port': broken}, expect=400)
        self.assertEqual('fa:16:3e:aa:00:01', port['mac_address'])
        fault = self.admin.post(
            PORTS,
            {'port': {'network_id': port['network_id'], 'mac_address': 'fa:16:3e:aa:00:01'}},
            expect=409,
        )
        self.assertEqual('MacAddressInUse', fault['NeutronError']['type'])
        bound = self.port(device_owner='compute:nova', **{'binding:host_id': 'h'})
        fault = self.admin.put(
            f'{PORTS}/{bound["id"]}', {'port': {'mac_address': 'fa:16:3e:aa:00:02'}}, expect=409
        )
        self.assertEqual('PortBound', fault['NeutronError']['type'])

    def test_ports_of_routers_are_not_deleted_directly(self):
        port = self.admin.get(f'{PORTS}?device_owner=network:router_interface')['ports'][0]
        self.admin.delete(f'{PORTS}/{port["id"]}', expect=409)
