"""Networks, floating and fixed addresses of old microversions, on the simulated network service."""

from nova_lite import runtime
from tests.fixtures import compute_api
from tests.unit.api.proxies import base

PATH = '/os-floating-ips'
PUBLIC = {'pool': 'public'}


class FloatingIpTest(base.Case):
    overrides = (('neutron', 'default_floating_pool', 'public'),)

    def setUp(self):
        super().setUp()
        self.garden = self.api.add_network()
        self.api.route(self.garden)
        self.uuid = self.api.add_server()
        self.port = self.api.plug(self.uuid, self.garden['id'])
        self.fixed = self.port['fixed_ips'][0]['ip_address']

    def allocate(self, body=PUBLIC):
        return self.ok('POST', PATH, body).json['floating_ip']

    def shown(self, made):
        return self.ok('GET', f'{PATH}/{made["id"]}').json['floating_ip']


class TestFloatingIps(FloatingIpTest):
    def test_taken_and_given_back(self):
        self.assertEqual([], self.ok('GET', PATH).json['floating_ips'])
        for body in (PUBLIC, {}, {'pool': None}, None):
            made = self.allocate(body)
            self.assertEqual(
                {
                    'id': made['id'],
                    'ip': made['ip'],
                    'pool': 'public',
                    'fixed_ip': None,
                    'instance_id': None,
                },
                made,
            )
            self.assertEqual([made], self.ok('GET', PATH).json['floating_ips'])
            self.assertEqual(made, self.shown(made))
            self.ok('DELETE', f'{PATH}/{made["id"]}', code=202)
        self.assertEqual([], self.ok('GET', PATH).json['floating_ips'])

    def test_pools(self):
        found = self.ok('GET', '/os-floating-ip-pools').json
        self.assertEqual({'floating_ip_pools': [{'name': 'public'}]}, found)

    def test_refused(self):
        for pool in ('nonsense', 'garden', runtime.new_uuid()):
            self.refused('POST', PATH, {'pool': pool}, code=404, text=pool)
        self.refused('POST', PATH, {'pool': 1}, code=400)
        self.refused('POST', PATH, {'pool': 'x' * 256}, code=404)
        self.refused('POST', PATH, PUBLIC, code=403, who=compute_api.READER)
        for floating_id in ('x', runtime.new_uuid(), self.allocate()['id']):
            one, other = f'{PATH}/{floating_id}', compute_api.OTHER
            self.refused('GET', one, code=404, text=floating_id, who=other)
            self.refused('DELETE', one, code=404, text=floating_id, who=other)

    def test_a_pool_deleted_meanwhile(self):
        operator = self.api.context_of(compute_api.ADMIN)
        service, call = self.api.network.service, self.api.network.service.call
        values = {'network': {'name': 'brief', 'router:external': True}}
        made = call(operator, 'POST', '/networks', json=values, as_user=True).json()['network']

        def delete_first(ctxt, method, path, **options):
            if method == 'POST':
                service.call = call
                call(operator, 'DELETE', f'/networks/{made["id"]}', as_user=True)
            return call(ctxt, method, path, **options)

        service.call = delete_first
        self.refused('POST', PATH, {'pool': 'brief'}, code=404, text='brief')

    def test_a_quota(self):
        operator = self.api.context_of(compute_api.ADMIN)
        body = {'quota': {'floatingip': 0}}
        self.api.network.service.call(operator, 'PUT', '/quotas/alpha', json=body)
        self.refused('POST', PATH, PUBLIC, code=403, text='uota')

    def test_gone_from_2_36(self):
        self.assert_ends(
            ('GET', PATH), ('POST', PATH, PUBLIC), ('GET', f'{PATH}/1'), ('DELETE', f'{PATH}/1'),
            ('GET', '/os-floating-ip-pools'),
        )  # fmt: skip


class TestFloatingIpsOfServers(FloatingIpTest):
    def setUp(self):
        super().setUp()
        self.made = self.allocate()

    def act(self, uuid, action, value, **options):
        return super().act(uuid, action, value, **{'version': '2.43', **options})

    def refused_act(self, uuid, action, value, **options):
        return super().refused_act(uuid, action, value, **{'version': '2.43', **options})

    def addresses(self, uuid):
        found = self.ok('GET', f'/servers/{uuid}').json['server']['addresses']
        return [each['addr'] for listed in found.values() for each in listed]

    def test_added_and_removed(self):
        value = {'address': self.made['ip']}
        self.act(self.uuid, 'addFloatingIp', value)
        self.assertEqual([self.fixed, self.made['ip']], self.addresses(self.uuid))
        shown = self.shown(self.made)
        self.assertEqual((self.fixed, self.uuid), (shown['fixed_ip'], shown['instance_id']))
        self.act(self.uuid, 'removeFloatingIp', value)
        self.assertEqual([self.fixed], self.addresses(self.uuid))
        self.refused_act(self.uuid, 'removeFloatingIp', value, code=409, text=self.made['ip'])

    def test_a_fixed_address(self):
        second = self.api.plug(self.uuid, self.garden['id'])['fixed_ips'][0]['ip_address']
        value = {'address': self.made['ip'], 'fixed_address': second}
        self.act(self.uuid, 'addFloatingIp', value)
        self.assertEqual(second, self.shown(self.made)['fixed_ip'])
        value['fixed_address'] = '10.99.0.1'
        self.refused_act(self.uuid, 'addFloatingIp', value, code=400, text='fixed_address')

    def test_taken_from_another_server(self):
        other = self.api.add_server()
        self.api.plug(other, self.garden['id'])
        value = {'address': self.made['ip']}
        for uuid in (self.uuid, other):
            self.act(uuid, 'addFloatingIp', value)
            self.assertEqual(uuid, self.shown(self.made)['instance_id'])
        self.refused_act(self.uuid, 'removeFloatingIp', value, code=409)

    def test_refused(self):
        value = {'address': self.made['ip']}
        bare = self.api.add_server()
        self.refused_act(bare, 'addFloatingIp', value, code=400, text='no fixed IPv4')
        for action in ('addFloatingIp', 'removeFloatingIp'):
            unknown = {'address': '198.51.100.250'}
            self.refused_act(self.uuid, action, unknown, code=404, text='floating IP not found')
            for wrong in ({}, {'address': 'x'}, {**value, 'more': 1}, None):
                self.refused_act(self.uuid, action, wrong, code=400)
            self.refused_act(self.uuid, action, value, code=403, who=compute_api.READER)
            self.refused_act(self.uuid, action, value, code=404, version='2.44', text='2.44')
        lonely = self.api.plug(self.uuid, self.api.add_network('lonely', '10.30.0.0/24')['id'])
        value['fixed_address'] = lonely['fixed_ips'][0]['ip_address']
        self.refused_act(self.uuid, 'addFloatingIp', value, code=400, text='not reachable')

    def test_fixed_addresses(self):
        self.act(self.uuid, 'addFixedIp', {'networkId': self.garden['id']})
        first, second = self.addresses(self.uuid)
        self.assertEqual(self.fixed, first)
        self.act(self.uuid, 'removeFixedIp', {'address': first})
        self.assertEqual([second], self.addresses(self.uuid))
        gone = {'address': first}
        self.refused_act(self.uuid, 'removeFixedIp', gone, code=400, text=first)
        for network_id in (runtime.new_uuid(), 7):
            wanted = {'networkId': network_id}
            self.refused_act(self.uuid, 'addFixedIp', wanted, code=404, text=str(network_id))
        for action in ('addFixedIp', 'removeFixedIp'):
            self.refused_act(self.uuid, action, {}, code=400)
        for where in ({'host': None, 'node': None}, {'locked': True, 'locked_by': 'owner'}):
            self.refused_act(self.api.add_server(**where), 'removeFixedIp', gone, code=409)
        self.refused_act(self.uuid, 'removeFixedIp', gone, code=404, version='2.44')

    def test_fixed_addresses_in_any_state(self):
        for state in ('error', 'rescued', 'soft-delete', 'resized'):
            uuid = self.api.add_server(vm_state=state)
            self.api.plug(uuid, self.garden['id'])
            self.act(uuid, 'addFixedIp', {'networkId': self.garden['id']})
            self.assertEqual(2, len(self.addresses(uuid)))

    def test_two_fixed_addresses_at_once(self):
        wanted, call = {'networkId': self.garden['id']}, self.api.network.service.call

        def another_first(ctxt, method, path, **options):
            if method == 'PUT':
                self.api.network.service.call = call
                self.act(self.uuid, 'addFixedIp', wanted)
            return call(ctxt, method, path, **options)

        self.api.network.service.call = another_first
        self.act(self.uuid, 'addFixedIp', wanted)
        self.assertEqual(3, len(self.addresses(self.uuid)))


class TestNetworks(base.Case):
    def setUp(self):
        super().setUp()
        self.garden = self.api.add_network()

    def test_networks(self):
        found = self.ok('GET', '/os-networks').json['networks']
        labels = {each['label']: each for each in found}
        self.assertEqual({'garden', 'public', 'shared'}, set(labels))
        self.assertEqual(self.garden['id'], labels['garden']['id'])
        self.assertEqual(11, len(labels['garden']))
        one = f'/os-networks/{self.garden["id"]}'
        self.assertEqual({'network': labels['garden']}, self.ok('GET', one).json)
        shown = self.ok('GET', one, who=compute_api.ADMIN).json['network']
        self.assertEqual(32, len(shown))
        self.assertIsNone(shown['vlan'])

    def test_tenant_networks(self):
        found = self.ok('GET', '/os-tenant-networks').json['networks']
        self.assertEqual({'garden', 'public', 'shared'}, {each['label'] for each in found})
        brief = {'id': self.garden['id'], 'label': 'garden', 'cidr': 'None'}
        self.assertIn(brief, found)
        one = f'/os-tenant-networks/{self.garden["id"]}'
        self.assertEqual({'network': brief}, self.ok('GET', one).json)

    def test_refused(self):
        for path in ('/os-networks', '/os-tenant-networks'):
            for network_id in ('x', runtime.new_uuid(), self.garden['id']):
                one = f'{path}/{network_id}'
                self.refused('GET', one, code=404, text=network_id, who=compute_api.OTHER)
            self.assert_ends(('GET', path), ('GET', f'{path}/1'))
            self.refused('POST', path, {}, code=410)
