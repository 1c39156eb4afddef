"""Bindings of a port to several hosts, as moves use them."""

from tests.unit.simcloud import base


class BindingTestCase(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.port_id = self.port(
            device_id='s', device_owner='compute:nova', **{'binding:host_id': 'source'}
        )['id']
        self.path = f'/network/v2.0/ports/{self.port_id}/bindings'

    def states(self):
        return {
            one['host']: (one['status'], one['vif_type'])
            for one in self.admin.get(self.path)['bindings']
        }

    def add(self, host, **values):
        return self.admin.post(self.path, {'binding': {'host': host, **values}})['binding']

    def host(self):
        port = self.admin.get(f'/network/v2.0/ports/{self.port_id}')['port']
        return port['binding:host_id']

    def test_second_binding_waits(self):
        made = self.add('dest', vnic_type='normal', profile={'k': 'v'})
        self.assertEqual(
            ('dest', 'INACTIVE', 'ovs', {'k': 'v'}),
            (made['host'], made['status'], made['vif_type'], made['profile']),
        )
        self.assertEqual('source', self.host())
        self.assertEqual({'source': ('ACTIVE', 'ovs'), 'dest': ('INACTIVE', 'ovs')}, self.states())

    def test_activating_swaps(self):
        self.add('dest')
        shown = self.admin.put(f'{self.path}/dest/activate')
        self.assertEqual('ACTIVE', shown['status'])
        self.assertEqual(
            {'source': ('INACTIVE', 'unbound'), 'dest': ('ACTIVE', 'ovs')}, self.states()
        )
        self.assertEqual('dest', self.host())
        self.admin.put(f'{self.path}/source', {'binding': {'profile': {}}}, expect=409)
        shown = self.admin.put(f'{self.path}/source/activate')
        self.assertEqual('unbound', shown['vif_type'])
        self.admin.put(f'{self.path}/source', {'binding': {'profile': {}}})
        self.assertEqual(
            {'source': ('ACTIVE', 'ovs'), 'dest': ('INACTIVE', 'unbound')}, self.states()
        )
        self.admin.delete(f'{self.path}/dest')
        self.assertEqual({'source': ('ACTIVE', 'ovs')}, self.states())

    def test_refusals_have_neutrons_types(self):
        self.add('dest')

        def kind(fault):
            return fault['NeutronError']['type']

        self.assertEqual(
            'PortBindingAlreadyExists',
            kind(self.admin.post(self.path, {'binding': {'host': 'dest'}}, expect=409)),
        )
        self.assertEqual(
            'PortBindingAlreadyActive',
            kind(self.admin.put(f'{self.path}/source/activate', expect=409)),
        )
        for path in ('nowhere/activate', 'nowhere'):
            self.assertEqual(
                'PortBindingNotFound',
                kind(self.admin.put(f'{self.path}/{path}', {'binding': {}}, expect=404)),
            )
        self.admin.get(f'{self.path}/nowhere', expect=404)
        self.admin.delete(f'{self.path}/nowhere', expect=404)
        self.admin.post('/network/v2.0/ports/none/bindings', {'binding': {'host': 'h'}}, expect=404)
        self.admin.post(self.path, {'binding': {}}, expect=400)

    def test_only_ports_of_servers_have_them(self):
        port = self.port()
        self.admin.post(
            f'/network/v2.0/ports/{port["id"]}/bindings', {'binding': {'host': 'h'}}, expect=400
        )

    def test_they_are_for_services(self):
        port_id = self.demo.post(
            '/network/v2.0/ports',
            {'port': {'network_id': self.network_id('private'), 'device_owner': 'compute:nova'}},
        )['port']['id']
        self.demo.get(f'/network/v2.0/ports/{port_id}/bindings', expect=403)
        nova = self.believed('nova', 'service', 'service')
        nova.get(f'/network/v2.0/ports/{port_id}/bindings')
        nova.post(f'/network/v2.0/ports/{port_id}/bindings', {'binding': {'host': 'h'}})

    def test_moving_the_port_takes_the_waiting_bindings_place(self):
        self.add('dest')
        self.admin.put(f'/network/v2.0/ports/{self.port_id}', {'port': {'binding:host_id': 'dest'}})
        self.assertEqual({'dest': ('ACTIVE', 'ovs')}, self.states())

    def test_profile_of_a_binding_changes_by_itself(self):
        self.add('dest')
        self.admin.put(f'{self.path}/dest', {'binding': {'profile': {'a': 'b'}}})
        shown = self.admin.get(f'{self.path}/dest')['binding']
        self.assertEqual(({'a': 'b'}, 'INACTIVE'), (shown['profile'], shown['status']))
        self.assertEqual({}, self.admin.get(f'{self.path}/source')['binding']['profile'])

    def test_without_the_active_one_the_port_is_unbound(self):
        self.admin.delete(f'{self.path}/source')
        self.assertEqual('', self.host())
        self.assertEqual('ACTIVE', self.add('other')['status'])

    def test_deleting_the_port_leaves_none(self):
        self.add('dest')
        self.admin.delete(f'/network/v2.0/ports/{self.port_id}')
        self.admin.get(self.path, expect=404)
