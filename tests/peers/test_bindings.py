"""Bindings of ports in simcloud's network service against the real Neutron's."""

from tests.peers import base
from tests.peers import callers
from tests.peers import networks


class BindingsTest(networks.NetworkPeersTest):
    def made(self, peer, **values):
        """The path of a port of a server, bound to host-1."""
        network = self.network(peer)
        return self.of_server(peer, network, **values)

    @staticmethod
    def bind(peer, path, host='host-2', **values):
        peer.ask('POST', f'{path}/bindings', {'binding': {'host': host, **values}})

    @staticmethod
    def activate(peer, path, host='host-2'):
        peer.ask('PUT', f'{path}/bindings/{host}/activate')

    @staticmethod
    def look(peer, path):
        peer.ask('GET', path + '?fields=status&fields=binding:vif_type&fields=binding:host_id')
        peer.ask('GET', f'{path}/bindings')

    @base.same
    def test_a_live_migration(self, peer):
        path = self.made(peer)
        self.bind(peer, path)
        self.look(peer, path)
        peer.ask('GET', f'{path}/bindings/host-2')
        self.activate(peer, path)
        self.look(peer, path)
        peer.ask('DELETE', f'{path}/bindings/host-1')
        self.look(peer, path)

    @base.same
    def test_back_to_the_source(self, peer):
        path = self.made(peer)
        self.bind(peer, path)
        self.activate(peer, path)
        self.activate(peer, path, 'host-1')
        self.look(peer, path)
        peer.ask('PUT', f'{path}/bindings/host-1', {'binding': {'profile': {}}})
        self.look(peer, path)
        peer.ask('DELETE', f'{path}/bindings/host-2')
        self.look(peer, path)

    @base.same
    def test_source_bound_before_it_is_activated(self, peer):
        path = self.made(peer)
        self.bind(peer, path)
        self.activate(peer, path)
        peer.ask('PUT', f'{path}/bindings/host-1', {'binding': {'profile': {}}})
        self.look(peer, path)
        self.activate(peer, path, 'host-1')
        self.look(peer, path)

    @base.same
    def test_a_move_by_the_port(self, peer):
        path = self.made(peer)
        peer.ask('PUT', path, {'port': {'binding:host_id': 'host-2'}})
        self.look(peer, path)
        self.bind(peer, path, 'host-1')
        peer.ask('PUT', path, {'port': {'binding:host_id': ''}})
        self.look(peer, path)

    @base.same
    def test_refused(self, peer):
        path = self.made(peer)
        self.bind(peer, path, 'host-1')
        self.bind(peer, path)
        self.bind(peer, path)
        self.activate(peer, path, 'host-1')
        self.activate(peer, path, 'host-3')
        peer.ask('DELETE', f'{path}/bindings/host-3')
        peer.ask('GET', f'{path}/bindings/host-3')
        nowhere = f'/ports/{callers.NOWHERE}'
        self.bind(peer, nowhere)
        self.activate(peer, nowhere)
        peer.ask('GET', f'{nowhere}/bindings')
        for values in ({}, {'host': 'x', 'vnic_type': 'x'}, {'host': 'x', 'y': 1}):
            peer.ask('POST', f'{path}/bindings', {'binding': values})
        self.look(peer, path)

    @base.same
    def test_the_active_binding_is_deleted(self, peer):
        path = self.made(peer)
        self.bind(peer, path)
        peer.ask('DELETE', f'{path}/bindings/host-1')
        peer.ask('GET', f'{path}/bindings')

    @base.same
    def test_who_may(self, peer):
        path = self.made(peer)
        for who in (callers.ADMINISTRATOR, callers.MEMBER, callers.READER):
            peer.headers = callers.by(who)
            peer.ask('GET', f'{path}/bindings')
            self.bind(peer, path)
