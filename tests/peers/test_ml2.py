"""The mechanism driver nova_lite in a real Neutron: which ports it binds, and what they show."""

import contextlib
import pathlib
import sqlite3

import requests
import testtools

from tests.fixtures import neutron
from tests.fixtures import servers
from tests.peers import callers

SERVER = '11111111-1111-4111-8111-111111111111'
NOW = '2026-01-01 00:00:00'
BOUND, DOWN, FAILED, UNBOUND = (
    ('ovs', 'ACTIVE'),
    ('ovs', 'DOWN'),
    ('binding_failed', 'DOWN'),
    ('unbound', 'DOWN'),
)


class MechanismDriverTest(testtools.TestCase):
    server_class = neutron.Neutron

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.share(cls)

    def setUp(self):
        super().setUp()
        self.network = self.make('network')['id']

    def ask(self, method, path, status, body=None):
        answer = requests.request(
            method,
            f'{self.server.url}/v2.0{path}',
            json=body,
            headers=callers.by(callers.SERVICE),
            timeout=60,
        )
        self.assertEqual(status, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def make(self, kind, **values):
        return self.ask('POST', f'/{kind}s', 201, {kind: values})[kind]

    def port(self, host='host-1', **values):
        """The path of a new port of a server on a host."""
        owner = {'device_id': SERVER, 'device_owner': 'compute:nova'}
        wanted = {'network_id': self.network, 'binding:host_id': host, **owner, **values}
        return '/ports/' + self.make('port', **wanted)['id']

    def change(self, path, **values):
        self.ask('PUT', path, 200, {'port': values})

    def shown(self, path):
        """(type of the VIF, status) of a port."""
        port = self.ask('GET', path, 200)['port']
        return port['binding:vif_type'], port['status']

    def bindings(self, path):
        """{host: (type of the VIF, status)} of the bindings of a port."""
        found = self.ask('GET', f'{path}/bindings', 200)['bindings']
        return {each['host']: (each['vif_type'], each['status']) for each in found}

    def test_ports_of_servers(self):
        self.assertEqual(BOUND, self.shown(self.port()))
        path = self.port(host='')
        self.assertEqual(UNBOUND, self.shown(path))
        for host, shown in (('host-1', BOUND), ('host-2', BOUND), ('', UNBOUND)):
            self.change(path, **{'binding:host_id': host})
            self.assertEqual(shown, self.shown(path))

    def test_a_move_with_two_bindings(self):
        path = self.port()
        self.ask('POST', f'{path}/bindings', 201, {'binding': {'host': 'host-2'}})
        source, dest = ('ovs', 'ACTIVE'), ('ovs', 'INACTIVE')
        self.assertEqual({'host-1': source, 'host-2': dest}, self.bindings(path))
        self.ask('PUT', f'{path}/bindings/host-2/activate', 200)
        self.assertEqual(BOUND, self.shown(path))
        source, dest = ('unbound', 'INACTIVE'), ('ovs', 'ACTIVE')
        self.assertEqual({'host-1': source, 'host-2': dest}, self.bindings(path))
        # Neutron leaves it to the client to bind the source again.
        self.ask('PUT', f'{path}/bindings/host-1/activate', 200)
        self.assertEqual(UNBOUND, self.shown(path))
        self.ask('PUT', f'{path}/bindings/host-1', 200, {'binding': {'profile': {}}})
        self.assertEqual(BOUND, self.shown(path))
        self.ask('DELETE', f'{path}/bindings/host-2', 204)
        self.assertEqual({'host-1': ('ovs', 'ACTIVE')}, self.bindings(path))

    def test_ports_that_are_down(self):
        path = self.port(admin_state_up=False)
        self.assertEqual(DOWN, self.shown(path))
        self.change(path, admin_state_up=True)
        self.assertEqual(BOUND, self.shown(path))
        self.change(path, admin_state_up=False)
        self.assertEqual(DOWN, self.shown(path))

    def test_types_of_networks(self):
        for kind, physical in (('local', None), ('vlan', 'public'), ('flat', 'public')):
            values = {'network_type': kind, 'physical_network': physical}
            wanted = {f'provider:{name}': value for name, value in values.items() if value}
            self.network = self.make('network', **wanted)['id']
            self.assertEqual(BOUND, self.shown(self.port()), kind)

    def test_types_of_vnics(self):
        for vnic_type, shown in (
            ('direct', ('hw_veb', 'ACTIVE')),
            ('macvtap', ('hw_veb', 'ACTIVE')),
            ('baremetal', FAILED),
        ):
            path = self.port(**{'binding:vnic_type': vnic_type})
            self.assertEqual(shown, self.shown(path), vnic_type)

    def test_hosts_with_an_agent_are_not_simulated(self):
        row = {
            'id': SERVER,
            'agent_type': 'Open vSwitch agent',
            'binary': 'agent',
            'topic': 'N/A',
            'host': 'real',
            'admin_state_up': True,
            'configurations': '{}',
            'load': 0,
            **dict.fromkeys(('created_at', 'started_at', 'heartbeat_timestamp'), NOW),
        }
        database = pathlib.Path(self.server.directory) / 'neutron.sqlite'
        names, marks = ', '.join(row), ', '.join('?' * len(row))
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(
                f'INSERT INTO agents ({names}) VALUES ({marks})', tuple(row.values())
            )
        path = self.port('real')
        self.assertEqual(FAILED, self.shown(path))
        self.change(path, **{'binding:host_id': 'host-1'})
        self.assertEqual(BOUND, self.shown(path))
