"""Trunks and routers of simcloud against the real Neutron's, the texts of errors included."""

from tests.peers import base
from tests.peers import callers
from tests.peers import networks

OWNER = {'device_id': networks.SERVER, 'device_owner': 'compute:nova'}
UNBOUND = {'device_id': '', 'device_owner': '', 'binding:host_id': ''}


def subport(port_id, number=7, **values):
    """Return a subport as requests have it."""
    segment = {'segmentation_type': 'vlan', 'segmentation_id': number}
    return {'port_id': port_id, **segment, **values}


class TrunkTest(networks.NetworkPeersTest):
    def begin(self, peer):
        made = super().begin(peer)
        made.words = frozenset()
        return made

    def ports(self, peer, count):
        """The ids of new ports on a network without subnets."""
        network = self.network(peer)
        return [self.port(peer, network).removeprefix('/ports/') for _ in range(count)]

    @staticmethod
    def change(peer, trunk, verb, *wanted):
        peer.ask('PUT', f'/trunks/{trunk}/{verb}_subports', {'sub_ports': list(wanted)})

    @base.same
    def test_trunks(self, peer):
        parent, one, two = self.ports(peer, 3)
        trunk = {'port_id': parent, 'name': 'a', 'sub_ports': [subport(one)]}
        made = peer.made('/trunks', {'trunk': trunk})['id']
        self.change(peer, made, 'add', subport(two, 8))
        for path in (f'/trunks/{made}', '/trunks?name=a', f'/trunks/{made}/get_subports'):
            peer.ask('GET', path)
        peer.ask('PUT', f'/trunks/{made}', {'trunk': {'name': 'b', 'description': 'c'}})
        peer.ask('GET', f'/ports/{parent}?fields=device_owner')
        peer.ask('GET', f'/ports/{one}?fields=device_owner')
        self.change(peer, made, 'remove', {'port_id': two})
        peer.ask('DELETE', f'/trunks/{made}')
        peer.ask('GET', f'/trunks/{made}')
        peer.ask('GET', f'/ports/{one}?fields=device_owner')

    @base.same
    def test_refused_trunks(self, peer):
        parent, one, two, used = self.ports(peer, 4)
        peer.ask('PUT', f'/ports/{used}', {'port': OWNER})
        for values in (
            {},
            {'port_id': callers.NOWHERE},
            {'port_id': parent, 'colour': 'blue'},
            {'port_id': parent, 'sub_ports': [subport(one, 4095)]},
            {'port_id': parent, 'sub_ports': [subport(one, segmentation_type='vxlan')]},
            {'port_id': parent, 'sub_ports': [{'port_id': one}]},
            {'port_id': parent, 'sub_ports': [subport(used)]},
            {'port_id': parent, 'sub_ports': [subport(callers.NOWHERE)]},
            {'port_id': parent, 'sub_ports': [subport(one), subport(two)]},
        ):
            peer.ask('POST', '/trunks', {'trunk': values})
        made = peer.made('/trunks', {'trunk': {'port_id': parent, 'sub_ports': [subport(one)]}})
        peer.ask('POST', '/trunks', {'trunk': {'port_id': parent}})
        peer.ask('POST', '/trunks', {'trunk': {'port_id': one}})
        self.change(peer, made['id'], 'add', subport(two))
        self.change(peer, made['id'], 'add', subport(parent, 9))
        self.change(peer, made['id'], 'remove', {'port_id': two})
        for port in (parent, one):
            peer.ask('DELETE', f'/ports/{port}')
        peer.ask('PUT', f'/trunks/{made["id"]}', {'trunk': {'admin_state_up': False}})
        self.change(peer, made['id'], 'remove', {'port_id': one})
        self.change(peer, made['id'], 'add', subport(two, 8))
        peer.ask('PUT', f'/trunks/{made["id"]}', {'trunk': {'port_id': two}})

    @staticmethod
    def look(peer, *ports):
        """Compare who has ports, and whether they are bound and active."""
        for port in ports:
            fields = ('device_id', 'device_owner', 'binding:host_id', 'binding:vif_type', 'status')
            query = '&'.join(f'fields={name}' for name in fields)
            peer.ask('GET', f'/ports/{port}?{query}')

    @base.same
    def test_a_subport_is_given_to_a_server(self, peer):
        parent, one = self.ports(peer, 2)
        trunk = {'port_id': parent, 'sub_ports': [subport(one)]}
        made = peer.made('/trunks', {'trunk': trunk})['id']
        self.look(peer, parent, one)
        peer.ask('PUT', f'/ports/{one}', {'port': {**OWNER, 'binding:host_id': 'host-1'}})
        self.look(peer, parent, one)
        peer.ask('GET', f'/trunks/{made}')
        self.change(peer, made, 'remove', {'port_id': one})
        self.look(peer, one)
        self.change(peer, made, 'add', subport(one))
        peer.ask('PUT', f'/ports/{one}', {'port': UNBOUND})
        self.change(peer, made, 'add', subport(one))
        self.look(peer, one)
        peer.ask('PUT', f'/ports/{one}', {'port': UNBOUND})
        self.look(peer, one)
        peer.ask('DELETE', f'/trunks/{made}')
        self.look(peer, one)

    @base.same
    def test_a_parent_port_is_given_to_a_server(self, peer):
        parent, one, two = self.ports(peer, 3)
        trunk = {'port_id': parent, 'sub_ports': [subport(one)]}
        made = peer.made('/trunks', {'trunk': trunk})['id']
        peer.ask('PUT', f'/ports/{parent}', {'port': {**OWNER, 'binding:host_id': 'host-1'}})
        self.look(peer, parent)
        self.change(peer, made, 'add', subport(two, 8))
        self.change(peer, made, 'remove', {'port_id': two})
        peer.ask('PUT', f'/ports/{parent}', {'port': UNBOUND})
        self.look(peer, parent, two)
        peer.ask('DELETE', f'/trunks/{made}')
        self.look(peer, parent, one)

    @base.same
    def test_the_trunk_of_a_bound_port_is_deleted(self, peer):
        (parent,) = self.ports(peer, 1)
        made = peer.made('/trunks', {'trunk': {'port_id': parent}})['id']
        peer.ask('PUT', f'/ports/{parent}', {'port': {**OWNER, 'binding:host_id': 'host-1'}})
        peer.ask('DELETE', f'/trunks/{made}')

    @base.same
    def test_a_bound_port_becomes_a_parent(self, peer):
        (parent,) = self.ports(peer, 1)
        peer.ask('PUT', f'/ports/{parent}', {'port': {**OWNER, 'binding:host_id': 'host-1'}})
        peer.ask('POST', '/trunks', {'trunk': {'port_id': parent}})

    @base.same
    def test_routers(self, peer):
        network = self.network(peer)
        subnet = self.subnet(peer, network)
        other = self.subnet(peer, network, '198.51.101.0/24', gateway_ip=None)
        router = peer.made('/routers', {'router': {'name': 'a'}})['id']
        add, remove = (f'/routers/{router}/{verb}_router_interface' for verb in ('add', 'remove'))
        for values in ({}, {'subnet_id': callers.NOWHERE}, {'port_id': callers.NOWHERE}):
            peer.ask('PUT', add, values)
        peer.ask('PUT', add, {'subnet_id': other})
        used = self.of_server(peer, network, fixed_ips=[{'ip_address': '192.0.2.7'}]).removeprefix(
            '/ports/'
        )
        peer.ask('PUT', add, {'port_id': used})
        peer.ask('PUT', add, {'subnet_id': subnet})
        fixed = [{'subnet_id': subnet, 'ip_address': '192.0.2.8'}]
        second = self.port(peer, network, fixed_ips=fixed).removeprefix('/ports/')
        peer.ask('PUT', add, {'port_id': second})
        peer.ask('PUT', f'/routers/{router}', {'router': {'external_gateway_info': {}}})
        inside = {'external_gateway_info': {'network_id': network}}
        peer.ask('PUT', f'/routers/{router}', {'router': inside})
        peer.ask('DELETE', f'/routers/{router}')
        peer.ask('PUT', remove, {'port_id': second})
        peer.ask('PUT', remove, {'subnet_id': subnet})
        peer.ask('PUT', remove, {'subnet_id': subnet})
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'/routers/{router}')

    @base.same
    def test_routes(self, peer):
        network = self.network(peer)
        subnet = self.subnet(peer, network)
        router = peer.made('/routers', {'router': {'name': 'a'}})['id']
        peer.ask('PUT', f'/routers/{router}/add_router_interface', {'subnet_id': subnet})
        route = {'destination': '10.9.0.0/24', 'nexthop': '192.0.2.9'}
        for routes in (
            [{**route, 'nexthop': '10.0.0.1'}],
            [{**route, 'nexthop': '192.0.2.1'}],
            [{**route, 'destination': 'there'}],
            [route, route],
            [route],
        ):
            peer.ask('PUT', f'/routers/{router}', {'router': {'routes': routes}})
        for verb, destination in (('add', '10.8.0.0/24'), ('remove', '10.9.0.0/24')):
            wanted = {'router': {'routes': [{**route, 'destination': destination}]}}
            peer.ask('PUT', f'/routers/{router}/{verb}_extraroutes', wanted)
        peer.ask('PUT', f'/routers/{router}/remove_router_interface', {'subnet_id': subnet})
