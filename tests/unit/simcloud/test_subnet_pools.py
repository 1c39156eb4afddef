"""Address scopes, pools of subnets, and subnets of a pool."""

from tests.unit.simcloud import base

V2 = '/network/v2.0'


class SubnetPoolsTest(base.SimCloudTestCase):
    def pool(self, *prefixes, client=None, expect=201, **values):
        wanted = {'name': 'pool', 'prefixes': list(prefixes), **values}
        answer = (client or self.demo).post(
            f'{V2}/subnetpools', {'subnetpool': wanted}, expect=expect
        )
        return answer.get('subnetpool') or answer['NeutronError']

    def network(self):
        return self.demo.post(f'{V2}/networks', {'network': {'name': 'n'}})['network']['id']

    def subnet(self, pool, *, expect=201, **values):
        wanted = {'ip_version': 4, 'subnetpool_id': pool['id']}
        if 'network_id' not in values:
            wanted['network_id'] = self.network()
        answer = self.demo.post(f'{V2}/subnets', {'subnet': {**wanted, **values}}, expect=expect)
        return answer.get('subnet') or answer['NeutronError']

    def scope(self, *, expect=201, client=None, **values):
        wanted = {'name': 'scope', 'ip_version': 4, **values}
        answer = (client or self.demo).post(
            f'{V2}/address-scopes', {'address_scope': wanted}, expect=expect
        )
        return answer.get('address_scope')

    def test_a_pool(self):
        made = self.pool('10.1.0.0/16', '10.0.0.0/16', default_prefixlen='24')
        self.assertEqual(['10.0.0.0/15'], made['prefixes'])
        lengths = [made[f'{name}_prefixlen'] for name in ('min', 'default', 'max')]
        self.assertEqual(([8, 24, 32], 4), (lengths, made['ip_version']))
        path = f'{V2}/subnetpools/{made["id"]}'
        self.assertEqual(made, self.demo.get(path)['subnetpool'])
        wanted = {'name': 'other', 'prefixes': ['10.0.0.0/8']}
        changed = self.demo.put(path, {'subnetpool': wanted})['subnetpool']
        self.assertEqual(('other', ['10.0.0.0/8']), (changed['name'], changed['prefixes']))
        self.demo.put(path, {'subnetpool': {'prefixes': ['10.0.0.0/9']}}, expect=400)
        self.demo.put(f'{path}/tags', {'tags': ['blue']})
        (found,) = self.demo.get(f'{V2}/subnetpools?tags=blue')['subnetpools']
        self.assertEqual(made['id'], found['id'])
        self.demo.delete(path)
        self.demo.get(path, expect=404)

    def test_pools_that_cannot_be(self):
        for prefixes, values, named in (
            (['10.0.0.0/8', '2001:db8::/64'], {}, 'IPv6'),
            (['10.0.0.0/x'], {}, '10.0.0.0/x'),
            (['10.0.0.0/8'], {'min_prefixlen': 25, 'default_prefixlen': 24}, 'min_prefixlen'),
            (['10.0.0.0/8'], {'max_prefixlen': 64}, 'max_prefixlen'),
        ):
            fault = self.pool(*prefixes, expect=400, **values)
            self.assertIn(named, fault['message'])
        self.pool('10.0.0.0/8', shared=True, expect=403)

    def test_subnets_of_the_default_pool(self):
        none = {'id': None}
        fault = self.subnet(none, use_default_subnetpool=True, expect=400)
        self.assertIn('IPv4', fault['message'])
        pool = self.pool('10.0.0.0/16', client=self.admin, is_default=True, shared=True)
        made = self.subnet(none, use_default_subnetpool=True, prefixlen=24)
        self.assertEqual((pool['id'], '10.0.0.0/24'), (made['subnetpool_id'], made['cidr']))
        self.subnet(pool, use_default_subnetpool=True, expect=400)
        self.pool('10.1.0.0/16', client=self.admin, is_default=True, expect=400)
        self.pool('2001:db8::/56', client=self.admin, is_default=True)
        other = self.pool('10.1.0.0/16', client=self.admin)
        path = f'{V2}/subnetpools/{other["id"]}'
        self.admin.put(path, {'subnetpool': {'is_default': True}}, expect=400)
        path = f'{V2}/subnetpools/{pool["id"]}'
        self.admin.put(path, {'subnetpool': {'is_default': True, 'name': 'same'}})

    def test_two_default_pools_of_a_former_release(self):
        made = [self.pool(f'10.{i}.0.0/16', client=self.admin) for i in range(2)]
        self.change_database('UPDATE network_subnet_pools SET is_default = 1')
        for is_default in (True, False):
            for pool in made:
                wanted = {'subnetpool': {'is_default': is_default, 'name': 'new'}}
                self.admin.put(f'{V2}/subnetpools/{pool["id"]}', wanted)

    def test_subnets_of_a_pool(self):
        pool = self.pool('10.0.0.0/22', default_prefixlen=24, min_prefixlen=23)
        first, second = self.subnet(pool), self.subnet(pool, prefixlen=23)
        self.assertEqual(['10.0.0.0/24', '10.0.2.0/23'], [first['cidr'], second['cidr']])
        self.assertEqual(pool['id'], first['subnetpool_id'])
        self.assertEqual(
            'SubnetAllocationError', self.subnet(pool, prefixlen=23, expect=409)['type']
        )
        self.subnet(pool, prefixlen=22, expect=400)
        self.subnet(pool, cidr='10.0.0.0/22', expect=400)
        self.subnet(pool, cidr='10.0.0.128/25', expect=409)
        self.subnet(pool, cidr='10.9.0.0/24', expect=409)
        self.assertEqual('10.0.1.0/25', self.subnet(pool, cidr='10.0.1.0/25')['cidr'])
        found = self.demo.get(f'{V2}/subnets?subnetpool_id={pool["id"]}')['subnets']
        self.assertEqual(3, len(found))
        path = f'{V2}/subnetpools/{pool["id"]}'
        self.demo.delete(path, expect=400)
        for subnet in found:
            self.demo.delete(f'{V2}/subnets/{subnet["id"]}')
        self.demo.delete(path)

    def test_all_subnets_of_a_network_are_of_one_pool_or_scope(self):
        scope = self.scope()['id']
        one, other, third = (
            self.pool(f'10.{i}.0.0/16', default_prefixlen=24, address_scope_id=i and scope or None)
            for i in range(3)
        )
        network = self.network()
        self.subnet(one, network_id=network)
        self.subnet(one, network_id=network)
        for pool, values in ((other, {}), ({'id': None}, {'cidr': '10.9.0.0/24'})):
            fault = self.subnet(pool, network_id=network, expect=400, **values)
            self.assertEqual('NetworkSubnetPoolAffinityError', fault['type'])
        found = self.demo.get(f'{V2}/subnets?network_id={network}')['subnets']
        self.assertEqual(['10.0.0.0/24', '10.0.1.0/24'], sorted(each['cidr'] for each in found))
        network = self.network()
        self.subnet(other, network_id=network)
        self.subnet(third, network_id=network)

    def test_lengths_and_versions(self):
        pool = self.pool('10.0.0.0/22')
        self.assertEqual('10.0.0.0/24', self.subnet(pool, prefixlen=24.0)['cidr'])
        fault = self.subnet(pool, ip_version=6, expect=400)
        self.assertIn('IPv4', fault['message'])
        fault = self.subnet(pool, cidr='2001:db8::/64', expect=400)
        self.assertIn('ip_version 4 does not match cidr', fault['message'])

    def test_neither_pool_nor_addresses(self):
        fault = self.subnet({'id': None}, expect=400)
        self.assertIn('subnetpool', fault['message'])

    def test_address_scopes(self):
        scope = self.scope()
        self.assertEqual(
            {'id', 'name', 'ip_version', 'shared', 'project_id', 'tenant_id'}, set(scope)
        )
        self.scope(shared=True, expect=403)
        path = f'{V2}/address-scopes/{scope["id"]}'
        pool = self.pool('10.0.0.0/8', address_scope_id=scope['id'])
        self.assertEqual(scope['id'], pool['address_scope_id'])
        self.pool('2001:db8::/64', address_scope_id=scope['id'], expect=400)
        fault = self.pool('10.1.0.0/16', address_scope_id=scope['id'], expect=409)
        self.assertEqual('AddressScopePrefixConflict', fault['type'])
        other = self.pool('10.1.0.0/16', '11.0.0.0/16')
        pools = f'{V2}/subnetpools'
        wanted = {'subnetpool': {'address_scope_id': scope['id']}}
        self.demo.put(f'{pools}/{other["id"]}', wanted, expect=409)
        self.demo.put(f'{pools}/{pool["id"]}', {'subnetpool': {'prefixes': ['10.0.0.0/7']}})
        self.demo.delete(path, expect=409)
        renamed = self.demo.put(path, {'address_scope': {'name': 'x'}})['address_scope']
        self.assertEqual('x', renamed['name'])
        self.demo.delete(f'{V2}/subnetpools/{pool["id"]}')
        self.demo.delete(path)
        shared = self.scope(client=self.admin, shared=True)
        (found,) = self.demo.get(f'{V2}/address-scopes')['address_scopes']
        self.assertEqual(shared['id'], found['id'])
