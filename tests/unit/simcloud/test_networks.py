"""Networks, subnets, quotas, tags and the rest that is not a port."""

from tests.unit.simcloud import base

V2 = '/network/v2.0'


class NetworkTestCase(base.SimCloudTestCase):
    def network(self, client=None, **values):
        return (client or self.demo).post(f'{V2}/networks', {'network': values})['network']

    def subnet(self, network, cidr='192.0.2.0/24', client=None, **values):
        return (client or self.demo).post(
            f'{V2}/subnets',
            {'subnet': {'network_id': network['id'], 'cidr': cidr, 'ip_version': 4, **values}},
        )['subnet']

    def test_network_and_subnet_have_a_life(self):
        network = self.network(name='n', description='d')
        self.assertEqual(
            (False, False, 1450, 'ACTIVE'),
            (network['shared'], network['router:external'], network['mtu'], network['status']),
        )
        self.assertNotIn('provider:network_type', network)
        subnet = self.subnet(network)
        self.assertEqual('192.0.2.1', subnet['gateway_ip'])
        self.assertEqual([{'start': '192.0.2.2', 'end': '192.0.2.254'}], subnet['allocation_pools'])
        path = f'{V2}/networks/{network["id"]}'
        self.assertEqual([subnet['id']], self.demo.get(path)['network']['subnets'])
        renamed = self.demo.put(path, {'network': {'name': 'm'}})['network']
        self.assertEqual(('m', 1), (renamed['name'], renamed['revision_number']))
        self.demo.delete(path)
        self.demo.get(f'{V2}/subnets/{subnet["id"]}', expect=404)

    def test_several_are_created_at_once(self):
        made = self.demo.post(f'{V2}/networks', {'networks': [{'name': 'a'}, {'name': 'b'}]})
        self.assertEqual(['a', 'b'], [one['name'] for one in made['networks']])
        ports = [{'network_id': one['id']} for one in made['networks']]
        found = self.demo.post(f'{V2}/ports', {'ports': ports})['ports']
        self.assertEqual(ports, [{'network_id': port['network_id']} for port in found])

    def test_of_several_all_or_none_are_created(self):
        made = self.network()
        for wrong, expect in (({'network_id': 'unknown'}, 404), ({'network_id': 5}, 400)):
            body = {'ports': [{'network_id': made['id']}, wrong]}
            self.demo.post(f'{V2}/ports', body, expect=expect)
        self.assertEqual([], self.demo.get(f'{V2}/ports?network_id={made["id"]}')['ports'])
        for body in ({'networks': {}}, {'networks': [5]}, []):
            self.demo.post(f'{V2}/networks', body, expect=400)

    def test_numbers_and_booleans_may_be_text(self):
        made = self.network(mtu='1400', admin_state_up='False', port_security_enabled=1)
        shown = [made[name] for name in ('mtu', 'admin_state_up', 'port_security_enabled')]
        self.assertEqual([1400, False, True], shown)
        body = {'network_id': made['id'], 'cidr': '192.0.2.0/24', 'ip_version': '4'}
        body = {'subnets': [{**body, 'enable_dhcp': '0'}]}
        (subnet,) = self.demo.post(f'{V2}/subnets', body)['subnets']
        self.assertEqual((4, False), (subnet['ip_version'], subnet['enable_dhcp']))
        for wrong in ({'mtu': 'x'}, {'mtu': '1e3'}, {'admin_state_up': 'maybe'}):
            self.admin.put(f'{V2}/networks/{made["id"]}', {'network': wrong}, expect=400)

    def test_unknown_paths(self):
        fault = self.demo.get(f'{V2}/nothing', expect=404)['NeutronError']
        self.assertEqual('HTTPNotFound', fault['type'])

    def test_used_networks_and_subnets_stay(self):
        network = self.network()
        subnet = self.subnet(network)
        port = self.demo.post(f'{V2}/ports', {'port': {'network_id': network['id']}})['port']
        for path, kind in (
            (f'networks/{network["id"]}', 'NetworkInUse'),
            (f'subnets/{subnet["id"]}', 'SubnetInUse'),
        ):
            fault = self.demo.delete(f'{V2}/{path}', expect=409)['NeutronError']
            self.assertEqual(kind, fault['type'])
        self.demo.delete(f'{V2}/ports/{port["id"]}')
        self.demo.delete(f'{V2}/networks/{network["id"]}')

    def test_only_administrators_share_and_choose_providers(self):
        for values in (
            {'shared': True},
            {'router:external': True},
            {'provider:network_type': 'vlan'},
        ):
            self.demo.post(f'{V2}/networks', {'network': values}, expect=403)
        made = self.network(
            self.admin,
            shared=True,
            **{
                'provider:network_type': 'vlan',
                'provider:physical_network': 'phys',
                'provider:segmentation_id': 7,
            },
        )
        self.assertEqual('phys', made['provider:physical_network'])
        path = f'{V2}/networks/{made["id"]}'
        fields = 'fields=provider:physical_network&fields=provider:network_type'
        self.assertEqual(
            {'provider:physical_network': 'phys', 'provider:network_type': 'vlan'},
            self.admin.get(f'{path}?{fields}')['network'],
        )
        self.demo.get(path)
        self.demo.put(path, {'network': {'name': 'mine'}}, expect=403)

    def test_lists_filter_by_repeated_values(self):
        ids = [self.network(name=f'n{number}')['id'] for number in range(3)]
        query = '&'.join(f'id={one}' for one in ids[:2])
        found = self.demo.get(f'{V2}/networks?{query}')['networks']
        self.assertEqual(set(ids[:2]), {one['id'] for one in found})
        shared = self.demo.get(f'{V2}/networks?shared=True&fields=name')['networks']
        self.assertEqual([{'name': 'shared'}], shared)
        own = self.demo.get(f'{V2}/networks?shared=False&router:external=0')['networks']
        self.assertEqual(4, len(own))
        self.assertEqual([], self.demo.get(f'{V2}/networks?id=nothing')['networks'])
        self.demo.get(f'{V2}/networks?shared=perhaps', expect=400)

    def test_lists_page_in_both_directions(self):
        for number in range(5):
            self.network(name=f'n{number}')
        path = f'{V2}/networks?sort_key=name&limit=2'
        first = self.demo.get(path)
        second = self.demo.get(f'{path}&marker={first["networks"][-1]["id"]}')['networks']
        self.assertEqual(['n2', 'n3'], [one['name'] for one in second])
        self.assertIn('marker=', first['networks_links'][0]['href'])
        back = self.demo.get(f'{path}&page_reverse=true&marker={second[0]["id"]}')['networks']
        self.assertEqual(['n0', 'n1'], [one['name'] for one in back])

    def test_projects_are_apart(self):
        network = self.network()
        other = self.believed('u', 'elsewhere', 'member')
        other.get(f'{V2}/networks/{network["id"]}', expect=404)
        other.post(f'{V2}/ports', {'port': {'network_id': network['id']}}, expect=404)
        other.post(f'{V2}/ports', {'port': {'network_id': self.network_id('public')}}, expect=403)
        self.believed('u', 'demo', 'reader').post(f'{V2}/networks', {'network': {}}, expect=403)

    def test_subnets_refuse_what_it_must(self):
        network = self.network()
        self.subnet(network)
        for status, values in (
            (400, {'cidr': '192.0.2.128/25'}),
            (400, {'cidr': 'everything'}),
            (400, {'cidr': '2001:db8::/64'}),
            (400, {'gateway_ip': 'home'}),
            (400, {'allocation_pools': [{'start': '10.0.0.5', 'end': '10.9.0.6'}]}),
            (400, {'allocation_pools': [{'start': '10.0.0.9', 'end': '10.0.0.6'}]}),
            (409, {'allocation_pools': [{'start': '10.0.0.1', 'end': '10.0.0.6'}]}),
            (
                409,
                {
                    'allocation_pools': [
                        {'start': '10.0.0.2', 'end': '10.0.0.6'},
                        {'start': '10.0.0.6', 'end': '10.0.0.9'},
                    ]
                },
            ),
        ):
            self.demo.post(
                f'{V2}/subnets',
                {
                    'subnet': {
                        'network_id': network['id'],
                        'cidr': '10.0.0.0/24',
                        'ip_version': 4,
                        **values,
                    }
                },
                expect=status,
            )

    def test_ip_version_as_text(self):
        network = self.network()
        self.assertEqual(4, self.subnet(network, '192.0.2.0/24', ip_version='4')['ip_version'])
        self.assertEqual(6, self.subnet(network, '2001:db8::/64', ip_version='6')['ip_version'])

    def test_both_ip_versions_on_one_network(self):
        network = self.network()
        self.subnet(network)
        self.subnet(network, '2001:db8::/64', ip_version=6)
        port = self.demo.post(f'{V2}/ports', {'port': {'network_id': network['id']}})['port']
        self.assertEqual(
            ['192.0.2.2', '2001:db8::2'], [one['ip_address'] for one in port['fixed_ips']]
        )

    def test_quotas_hold(self):
        project = self.demo.get('/identity/v3/auth/projects')['projects'][0]['id']
        path = f'{V2}/quotas/{project}'
        self.assertEqual(-1, self.demo.get(path)['quota']['port'])
        self.demo.put(path, {'quota': {'port': 9}}, expect=403)
        self.admin.put(path, {'quota': {'port': '1', 'network': 2}})
        details = self.demo.get(f'{path}/details')['quota']
        self.assertEqual({'limit': 2, 'used': 1, 'reserved': 0}, details['network'])
        self.network()
        fault = self.demo.post(f'{V2}/networks', {'network': {}}, expect=409)
        self.assertEqual('OverQuota', fault['NeutronError']['type'])
        self.admin.delete(path)
        self.network()
        self.demo.get(f'{V2}/quotas/elsewhere', expect=403)

    def test_tags(self):
        network = self.network()
        path = f'{V2}/networks/{network["id"]}/tags'
        self.demo.put(path, {'tags': ['a', 'b']})
        self.demo.put(f'{path}/c', expect=201)
        self.demo.delete(f'{path}/a')
        self.assertEqual({'tags': ['b', 'c']}, self.demo.get(path))
        self.assertEqual(1, len(self.demo.get(f'{V2}/networks?tags=b,c')['networks']))
        self.assertEqual(3, len(self.demo.get(f'{V2}/networks?not-tags=b')['networks']))
        self.demo.get(f'{path}/a', expect=404)
        self.demo.delete(path)

    def test_if_match_refuses_an_older_revision(self):
        network = self.network()
        path = f'{V2}/networks/{network["id"]}'
        self.demo.put(path, {'network': {'name': 'a'}}, headers={'If-Match': 'revision_number=0'})
        fault = self.demo.put(
            path, {'network': {'name': 'b'}}, expect=412, headers={'If-Match': 'revision_number=0'}
        )
        self.assertEqual('RevisionNumberConstraintFailed', fault['NeutronError']['type'])

    def test_extensions_that_nova_looks_for(self):
        aliases = {one['alias'] for one in self.demo.get(f'{V2}/extensions')['extensions']}
        self.assertLessEqual(
            {
                'binding',
                'binding-extended',
                'port-resource-request',
                'quotas',
                'security-group',
                'external-net',
                'provider',
            },
            aliases,
        )
        self.demo.get(f'{V2}/extensions/binding-extended')
        self.demo.get(f'{V2}/extensions/metering', expect=404)
        self.demo.post(f'{V2}/metering', {}, expect=404)
