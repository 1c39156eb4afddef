"""network_data.json of ports with each kind of subnet."""

import testtools

from nova_lite.metadata import network_data
from tests.fixtures import guest_facts

STATIC = {'enable_dhcp': False, 'ipv6_address_mode': None}


class NetworkDataTest(testtools.TestCase):
    def network(self, **subnet):
        (found,) = network_data.build([guest_facts.vif(guest_facts.subnet(**subnet))])['networks']
        return found

    def test_dhcp(self):
        self.assertEqual(
            {
                'links': [
                    {
                        'id': 'tapcd9f6d46-4a',
                        'vif_id': guest_facts.PORT,
                        'type': 'ovs',
                        'mtu': 1450,
                        'ethernet_mac_address': 'fa:16:3e:9c:bf:3d',
                    }
                ],
                'networks': [
                    {
                        'id': 'network0',
                        'link': 'tapcd9f6d46-4a',
                        'network_id': guest_facts.NETWORK,
                        'type': 'ipv4_dhcp',
                    }
                ],
                'services': [{'type': 'dns', 'address': '8.8.8.8'}],
            },
            network_data.build([guest_facts.vif(guest_facts.subnet())]),
        )

    def test_static(self):
        route = {'cidr': '192.168.0.0/16', 'gateway': {'address': '10.0.0.9'}}
        found = self.network(meta=STATIC, routes=[route])
        self.assertEqual(
            ('ipv4', '10.0.0.2', '255.255.255.0'),
            (found['type'], found['ip_address'], found['netmask']),
        )
        self.assertEqual(
            [
                {'network': '0.0.0.0', 'netmask': '0.0.0.0', 'gateway': '10.0.0.1'},
                {'network': '192.168.0.0', 'netmask': '255.255.0.0', 'gateway': '10.0.0.9'},
            ],
            found['routes'],
        )
        self.assertEqual([{'type': 'dns', 'address': '8.8.8.8'}], found['services'])

    def test_static_ipv6(self):
        found = self.network(cidr='2001:db8::/64', address='2001:db8::5', meta=STATIC)
        self.assertEqual(
            ('ipv6', '2001:db8::5', 'ffff:ffff:ffff:ffff::'),
            (found['type'], found['ip_address'], found['netmask']),
        )
        self.assertEqual(
            [{'network': '::', 'netmask': '::', 'gateway': '2001:db8::1'}], found['routes']
        )

    def test_ipv6_by_router_or_dhcp(self):
        for mode, kind in (
            ('slaac', 'ipv6_slaac'),
            ('dhcpv6-stateful', 'ipv6_dhcpv6-stateful'),
            ('dhcpv6-stateless', 'ipv6_dhcpv6-stateless'),
        ):
            found = self.network(
                cidr='2001:db8::/64', address='2001:db8::5', meta={'ipv6_address_mode': mode}
            )
            self.assertEqual((kind, '2001:db8::5'), (found['type'], found['ip_address']))

    def test_without_gateway(self):
        self.assertEqual([], self.network(meta=STATIC, gateway=None)['routes'])

    def test_recorded_before_dhcp_was(self):
        self.assertEqual('ipv4', self.network(meta={})['type'])

    def test_several_ports_and_subnets(self):
        first = guest_facts.vif(guest_facts.subnet(), guest_facts.subnet('10.2.0.0/24', '10.2.0.2'))
        other = guest_facts.vif(guest_facts.subnet(), devname='tap1', type='hostdev_physical')
        found = network_data.build([first, other])
        self.assertEqual(['ovs', 'phy'], [link['type'] for link in found['links']])
        self.assertEqual(
            [('network0', 'tapcd9f6d46-4a'), ('network1', 'tapcd9f6d46-4a'), ('network2', 'tap1')],
            [(network['id'], network['link']) for network in found['networks']],
        )
        self.assertEqual(1, len(found['services']))

    def test_no_ports(self):
        self.assertEqual({'links': [], 'networks': [], 'services': []}, network_data.build([]))
