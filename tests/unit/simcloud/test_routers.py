"""Routers, floating addresses, automatic networks."""

from tests.unit.simcloud import base

V2 = '/network/v2.0'


class RouterTestCase(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.public = self.network_id('public')
        self.network = self.demo.post(f'{V2}/networks', {'network': {}})['network']
        self.subnet = self.demo.post(
            f'{V2}/subnets',
            {'subnet': {'network_id': self.network['id'], 'cidr': '192.0.2.0/24', 'ip_version': 4}},
        )['subnet']

    def router(self, **values):
        return self.demo.post(f'{V2}/routers', {'router': values})['router']

    def connect(self, router, *, expect=200):
        return self.demo.put(
            f'{V2}/routers/{router["id"]}/add_router_interface',
            {'subnet_id': self.subnet['id']},
            expect=expect,
        )

    def port_of_demo(self):
        return self.demo.post(f'{V2}/ports', {'port': {'network_id': self.network['id']}})['port']

    def floating(self, *, expect=201, **values):
        return self.demo.post(
            f'{V2}/floatingips',
            {'floatingip': {'floating_network_id': self.public, **values}},
            expect=expect,
        )

    def test_interfaces_hold_the_gateway_address(self):
        router = self.router()
        made = self.connect(router)
        port = self.demo.get(f'{V2}/ports/{made["port_id"]}')['port']
        self.assertEqual('192.0.2.1', port['fixed_ips'][0]['ip_address'])
        self.connect(router, expect=409)
        path = f'{V2}/routers/{router["id"]}'
        wanted = {'port_id': self.port_of_demo()['id']}
        answer = self.demo.put(f'{path}/add_router_interface', wanted, expect=400)
        self.assertIn('already has a port on subnet', answer['NeutronError']['message'])
        self.demo.delete(f'{V2}/ports/{wanted["port_id"]}')
        self.demo.delete(path, expect=409)
        self.demo.put(f'{path}/remove_router_interface', {'port_id': made['port_id']})
        self.demo.put(f'{path}/remove_router_interface', {'port_id': made['port_id']}, expect=404)
        self.demo.delete(path)
        self.demo.delete(f'{V2}/networks/{self.network["id"]}')

    def test_a_router_has_one_port_on_a_subnet(self):
        """However it is connected, and although the gateway's address is free."""
        router = self.router()
        path, wanted = f'{V2}/routers/{router["id"]}', {'port_id': self.port_of_demo()['id']}
        self.demo.put(f'{path}/add_router_interface', wanted)
        answer = self.connect(router, expect=400)
        self.assertIn('already has a port on subnet', answer['NeutronError']['message'])
        self.demo.put(f'{path}/remove_router_interface', wanted)
        self.connect(router)

    def test_gateway_is_set_and_cleared(self):
        router = self.router(external_gateway_info={'network_id': self.public})
        gateway = router['external_gateway_info']
        self.assertTrue(gateway['external_fixed_ips'][0]['ip_address'].startswith('172.24.'))
        path = f'{V2}/routers/{router["id"]}'
        cleared = self.demo.put(path, {'router': {'external_gateway_info': None}})['router']
        self.assertIsNone(cleared['external_gateway_info'])
        self.demo.put(
            path,
            {'router': {'external_gateway_info': {'network_id': self.network['id']}}},
            expect=400,
        )

    def test_gateway_gets_another_address(self):
        router = self.router(external_gateway_info={'network_id': self.public})
        (had,) = router['external_gateway_info']['external_fixed_ips']
        wanted = [{**had, 'ip_address': '172.24.4.77'}]
        path = f'{V2}/routers/{router["id"]}'
        gateway = {'network_id': self.public, 'external_fixed_ips': wanted}
        changed = self.demo.put(path, {'router': {'external_gateway_info': gateway}})['router']
        self.assertEqual(wanted, changed['external_gateway_info']['external_fixed_ips'])
        gateway = {'network_id': self.public, 'enable_snat': False}
        changed = self.demo.put(path, {'router': {'external_gateway_info': gateway}})['router']
        self.assertEqual(wanted, changed['external_gateway_info']['external_fixed_ips'])

    def test_routes(self):
        self.demo.get(f'{V2}/extensions/extraroute')
        routes = [{'destination': '10.9.0.0/24', 'nexthop': '192.0.2.9'}]
        router = self.router()
        path = f'{V2}/routers/{router["id"]}'
        self.demo.put(path, {'router': {'routes': routes}})
        self.assertEqual(routes, self.demo.get(path)['router']['routes'])
        other = {'destination': '10.8.0.0/24', 'nexthop': '192.0.2.9'}
        for verb, sent, left in (
            ('add', [*routes, other], [*routes, other]),
            ('remove', routes, [other]),
            ('remove', routes, [other]),
        ):
            answer = self.demo.put(f'{path}/{verb}_extraroutes', {'router': {'routes': sent}})
            self.assertEqual(left, answer['router']['routes'])
        many = [{**other, 'destination': f'10.7.{number}.0/24'} for number in range(30)]
        answer = self.demo.put(f'{path}/add_extraroutes', {'router': {'routes': many}}, expect=400)
        self.assertEqual('RoutesExhausted', answer['NeutronError']['type'])
        self.demo.put(path, {'router': {'routes': [{'destination': '10.0.0.0/8'}]}}, expect=400)
        for bad, word in (
            ([{**other, 'destination': 'there'}], 'there'),
            ([{**other, 'destination': '2001:db8::/64'}], '2001:db8::'),
            ([{**other, 'nexthop': '10.0.0.0/8'}], '10.0.0.0/8'),
            ([other, other], 'Duplicate'),
        ):
            wanted = {'router': {'routes': bad}}
            for method, place in (
                ('PUT', path),
                ('PUT', f'{path}/add_extraroutes'),
                ('POST', f'{V2}/routers'),
            ):
                fault = self.demo.request(method, place, wanted, expect=400)['NeutronError']
                self.assertIn(word, fault['message'])

    def test_no_service_has_a_provider(self):
        found = self.demo.get(f'{V2}/service-providers?service_type=VPN')
        self.assertEqual({'service_providers': []}, found)

    def test_floating_address_follows_a_port(self):
        port = self.port_of_demo()
        fault = self.floating(port_id=port['id'], expect=404)
        self.assertEqual('ExternalGatewayForFloatingIPNotFound', fault['NeutronError']['type'])
        router = self.router(external_gateway_info={'network_id': self.public})
        self.connect(router)
        made = self.floating(port_id=port['id'])['floatingip']
        self.assertEqual(
            ('ACTIVE', router['id'], port['fixed_ips'][0]['ip_address']),
            (made['status'], made['router_id'], made['fixed_ip_address']),
        )
        details = made['port_details']
        self.assertEqual((port['mac_address'], 'DOWN'), (details['mac_address'], details['status']))
        self.admin.put(f'{V2}/ports/{port["id"]}', {'port': {'binding:host_id': 'host-1'}})
        shown = self.demo.get(f'{V2}/floatingips/{made["id"]}')['floatingip']
        self.assertEqual('ACTIVE', shown['port_details']['status'])
        fault = self.floating(port_id=port['id'], expect=409)
        self.assertEqual('FloatingIPPortAlreadyAssociated', fault['NeutronError']['type'])
        address = made['floating_ip_address']
        for query in (
            f'port_id={port["id"]}',
            f'floating_ip_address={address}',
            f'port_id={port["id"]}&fixed_ip_address={made["fixed_ip_address"]}',
        ):
            found = self.demo.get(f'{V2}/floatingips?{query}')['floatingips']
            self.assertEqual([made['id']], [one['id'] for one in found])
        self.demo.put(
            f'{V2}/routers/{router["id"]}/remove_router_interface',
            {'subnet_id': self.subnet['id']},
            expect=409,
        )
        self.demo.delete(f'{V2}/ports/{port["id"]}')
        path = f'{V2}/floatingips/{made["id"]}'
        shown = self.demo.get(path)['floatingip']
        self.assertEqual((None, 'DOWN'), (shown['port_id'], shown['status']))
        other = self.port_of_demo()
        self.assertEqual(
            other['id'],
            self.demo.put(path, {'floatingip': {'port_id': other['id']}})['floatingip']['port_id'],
        )
        self.assertIsNone(
            self.demo.put(path, {'floatingip': {'port_id': None}})['floatingip']['port_id']
        )
        self.demo.delete(path)
        self.assertEqual([], self.admin.get(f'{V2}/ports?device_owner=network:floatingip')['ports'])

    def test_automatic_network_is_made_once(self):
        fresh = self.believed('u', 'fresh', 'member')
        path = f'{V2}/auto-allocated-topology/fresh'
        self.assertEqual(
            'dry-run=pass', fresh.get(f'{path}?fields=dry-run')['auto_allocated_topology']['id']
        )
        made = fresh.get(path)['auto_allocated_topology']['id']
        self.assertEqual(made, fresh.get(path)['auto_allocated_topology']['id'])
        port = fresh.post(f'{V2}/ports', {'port': {'network_id': made}})['port']
        fresh.delete(path, expect=409)
        fresh.delete(f'{V2}/ports/{port["id"]}')
        fresh.delete(path)
        fresh.get(f'{V2}/networks/{made}', expect=404)
        self.admin.put(f'{V2}/networks/{self.public}', {'network': {'is_default': False}})
        fresh.get(f'{path}?fields=dry-run', expect=409)
