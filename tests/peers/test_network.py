"""simcloud's network service against the real Neutron; test_bindings has the bindings."""

import requests

from tests.peers import base
from tests.peers import callers
from tests.peers import networks

# Aliases that decide what nova_lite, openstacksdk and Tempest ask for.
WANTED = (
    *('binding-extended', 'port-resource-request', 'port-resource-request-groups'),
    *('auto-allocated-topology', 'net-mtu', 'quota_details', 'revision-if-match', 'qos'),
    *('port-security', 'router', 'security-group', 'stateful-security-group'),
)


class NetworkTest(networks.NetworkPeersTest):
    @base.same
    def test_subnets(self, peer):
        network = self.network(peer)
        pools = [{'start': '192.0.2.10', 'end': '192.0.2.20'}]
        subnet = self.subnet(peer, network, allocation_pools=pools, name='a', dns_nameservers=[])
        self.subnet(peer, network)
        self.subnet(peer, network, '192.0.2.0')
        self.subnet(peer, network, '198.51.100.0/24', gateway_ip=None, enable_dhcp=False)
        self.subnet(peer, network, '198.51.101.0/24', gateway_ip='192.0.2.1')
        peer.ask('PUT', f'/subnets/{subnet}', {'subnet': {'name': 'b', 'cidr': '10.0.0.0/8'}})
        peer.ask('PUT', f'/subnets/{subnet}', {'subnet': {'name': 'b'}})
        peer.ask('GET', f'/subnets?network_id={network}&name=b')
        self.port(peer, network, fixed_ips=[{'ip_address': '192.0.2.15'}])
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'/subnets/{subnet}')
        peer.ask('DELETE', f'/networks/{network}')
        peer.ask('GET', f'/networks/{callers.NOWHERE}')

    @base.same
    def test_ports(self, peer):
        network = self.network(peer)
        subnet = self.subnet(peer, network)
        path = self.port(peer, network, fixed_ips=[{'ip_address': '192.0.2.15'}], name='a')
        for values in (
            {'network_id': callers.NOWHERE},
            {'fixed_ips': [{'ip_address': '192.0.2.15'}]},
            {'fixed_ips': [{'ip_address': '10.0.0.1'}]},
            {'fixed_ips': [{'subnet_id': callers.NOWHERE}]},
            {'mac_address': 'x'},
            {'security_groups': [callers.NOWHERE]},
            {'admin_state_up': 'x'},
            {'colour': 'blue'},
        ):
            peer.ask('POST', '/ports', {'port': {'network_id': network, **values}})
        for values in (
            {'name': 'b', 'device_id': networks.SERVER, 'device_owner': 'compute:nova'},
            {'fixed_ips': [{'subnet_id': subnet, 'ip_address': '192.0.2.16'}]},
            {'security_groups': []},
            {'network_id': network},
            {'port_security_enabled': False},
        ):
            peer.ask('PUT', path, {'port': values})
        for query in (
            f'device_id={networks.SERVER}&fields=name',
            'fixed_ips=ip_address=192.0.2.16',
        ):
            peer.ask('GET', f'/ports?{query}&network_id={network}')
        for method in ('DELETE', 'GET'):
            peer.ask(method, path)

    @base.same
    def test_security_groups(self, peer):
        group = peer.made('/security-groups', {'security_group': {'name': 'a'}})['id']
        rule = {'security_group_id': group, 'direction': 'ingress', 'ethertype': 'IPv4'}
        tcp = {**rule, 'protocol': 'tcp', 'port_range_min': 80, 'port_range_max': 90}
        for values in (
            tcp,
            tcp,
            {**tcp, 'port_range_min': 99},
            {**tcp, 'protocol': 'none'},
            {**rule, 'port_range_min': 80},
            {**rule, 'remote_group_id': group},
            {**rule, 'remote_ip_prefix': '10.0.0.0/33'},
            {**rule, 'security_group_id': callers.NOWHERE},
        ):
            peer.ask('POST', '/security-group-rules', {'security_group_rule': values})
        network = self.network(peer)
        path = self.port(peer, network, security_groups=[group])
        peer.ask('DELETE', f'/security-groups/{group}')
        peer.ask('DELETE', path)
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'/security-groups/{group}')

    @base.same
    def test_routers_and_floating_addresses(self, peer):
        outside = self.network(peer, **networks.OUTSIDE)
        self.subnet(peer, outside, '198.51.100.0/24', enable_dhcp=False)
        network = self.network(peer)
        subnet = self.subnet(peer, network)
        fixed = [{'subnet_id': subnet, 'ip_address': '192.0.2.15'}]
        port = self.port(peer, network, fixed_ips=fixed).removeprefix('/ports/')
        floating = {
            'floating_network_id': outside,
            'floating_ip_address': '198.51.100.20',
            'port_id': port,
        }
        peer.ask('POST', '/floatingips', {'floatingip': floating})
        router = peer.made('/routers', {'router': {'name': 'a'}})['id']
        peer.ask('PUT', f'/routers/{router}/add_router_interface', {'subnet_id': subnet})
        peer.ask('PUT', f'/routers/{router}/add_router_interface', {'subnet_id': subnet})
        address = [{'ip_address': '198.51.100.30'}]
        gateway = {'external_gateway_info': {'network_id': outside, 'external_fixed_ips': address}}
        peer.ask('POST', '/floatingips', {'floatingip': floating})
        answer = peer.ask('PUT', f'/routers/{router}', {'router': gateway})
        self.assertEqual(200, answer.status_code, answer.text)
        made = peer.made('/floatingips', {'floatingip': floating})['id']
        peer.ask('POST', '/floatingips', {'floatingip': floating})
        peer.ask('DELETE', f'/routers/{router}')
        peer.ask('PUT', f'/routers/{router}/remove_router_interface', {'subnet_id': subnet})
        for values in ({'port_id': None}, {'port_id': port}, {'port_id': callers.NOWHERE}):
            peer.ask('PUT', f'/floatingips/{made}', {'floatingip': values})
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'/floatingips/{made}')

    @base.same
    def test_quotas(self, peer):
        project = callers.MEMBER['project']
        peer.ask('PUT', f'/quotas/{project}', {'quota': {'port': 0, 'network': 1, 'floatingip': 0}})
        peer.headers = callers.by(callers.MEMBER)
        network = self.network(peer)
        peer.ask('POST', '/networks', {'network': {}})
        peer.ask('POST', '/ports', {'port': {'network_id': network}})
        peer.headers = callers.by(callers.SERVICE)
        peer.ask('DELETE', f'/networks/{network}')
        peer.ask('DELETE', f'/quotas/{project}')

    @base.same
    def test_who_may(self, peer):
        network = self.network(peer)
        path = self.port(peer, network)
        peer.headers = callers.by(callers.MEMBER)
        for at in (path, f'/networks/{network}'):
            for method in ('GET', 'DELETE'):
                peer.ask(method, at)
        mine = peer.made('/networks', {'network': {'name': 'mine'}})['id']
        peer.ask('POST', '/ports', {'port': {'network_id': mine, 'binding:host_id': 'host-1'}})
        peer.ask('POST', '/networks', {'network': {'shared': True}})
        peer.ask('POST', '/networks', {'network': {'router:external': True}})
        peer.headers = callers.by(callers.READER)
        peer.ask('GET', f'/networks/{mine}')
        peer.ask('DELETE', f'/networks/{mine}')
        peer.headers = callers.by(callers.STRANGER)
        peer.ask('GET', f'/networks/{mine}')

    @base.same
    def test_who_may_delete_ports_of_services(self, peer):
        """No member, not even the owner of the network, unless a service asks for him."""
        peer.headers = callers.by(callers.MEMBER)
        network = self.network(peer)
        for owner in ('compute:nova', 'baremetal:none', 'manila:share', 'computer', 'mine:own'):
            path = self.port(peer, network, device_id=networks.SERVER, device_owner=owner)
            peer.ask('DELETE', path)
            peer.ask('DELETE', path, headers={'X-Service-Roles': 'service'})
        path = self.port(peer, network, device_owner='compute:nova')
        for who in (callers.READER, callers.STRANGER, callers.ADMINISTRATOR):
            peer.ask('DELETE', path, headers=callers.by(who))
        peer.ask('DELETE', f'/networks/{network}')

    @base.same
    def test_extensions_that_clients_look_for(self, peer):
        answer = requests.get(f'{peer.url}/extensions', headers=peer.headers, timeout=60)
        found = {each['alias'] for each in answer.json()['extensions']}
        peer.note('extensions', {alias: alias in found for alias in WANTED})
