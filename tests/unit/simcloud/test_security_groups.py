"""Security groups and their rules."""

from tests.unit.simcloud import base

GROUPS = '/network/v2.0/security-groups'
RULES = '/network/v2.0/security-group-rules'


class SecurityGroupTestCase(base.SimCloudTestCase):
    def group(self, name='web', client=None):
        return (client or self.demo).post(GROUPS, {'security_group': {'name': name}})[
            'security_group'
        ]

    def rule(self, group, *, expect=201, client=None, **values):
        return (client or self.demo).post(
            RULES,
            {
                'security_group_rule': {
                    'security_group_id': group['id'],
                    'direction': 'ingress',
                    **values,
                }
            },
            expect=expect,
        )

    def test_default_group_appears_when_it_is_looked_for(self):
        fresh = self.believed('u', 'fresh', 'member')
        found = fresh.get(GROUPS)['security_groups']
        self.assertEqual(['default'], [one['name'] for one in found])
        rules = found[0]['security_group_rules']
        self.assertEqual(
            {('egress', 'IPv4'), ('egress', 'IPv6'), ('ingress', 'IPv4'), ('ingress', 'IPv6')},
            {(one['direction'], one['ethertype']) for one in rules},
        )
        self.assertEqual(
            found, fresh.get(f'{GROUPS}?name=default&tenant_id=fresh')['security_groups']
        )

    def test_default_group_appears_with_the_first_port(self):
        port = self.port(tenant_id='fresh')
        groups = self.admin.get(f'{GROUPS}?tenant_id=fresh')['security_groups']
        self.assertEqual([one['id'] for one in groups], port['security_groups'])

    def test_default_group_is_kept(self):
        group = self.demo.get(f'{GROUPS}?name=default')['security_groups'][0]
        path = f'{GROUPS}/{group["id"]}'
        self.demo.delete(path, expect=409)
        self.demo.put(path, {'security_group': {'name': 'x'}}, expect=409)
        self.demo.post(GROUPS, {'security_group': {'name': 'default'}}, expect=409)

    def test_groups_in_use_stay(self):
        group = self.group()
        port = self.port(self.demo, 'private', security_groups=[group['id'], group['id']])
        self.assertEqual([group['id']], port['security_groups'])
        fault = self.demo.delete(f'{GROUPS}/{group["id"]}', expect=409)
        self.assertEqual('SecurityGroupInUse', fault['NeutronError']['type'])
        self.demo.put(f'/network/v2.0/ports/{port["id"]}', {'port': {'security_groups': []}})
        self.demo.delete(f'{GROUPS}/{group["id"]}')
        self.demo.get(f'{GROUPS}/{group["id"]}', expect=404)

    def test_ports_mix_no_stateful_and_stateless_groups(self):
        stateful = self.group()
        body = {'security_group': {'name': 'stateless', 'stateful': False}}
        stateless = self.demo.post(GROUPS, body)['security_group']
        mixed = {'security_groups': [stateful['id'], stateless['id']]}
        network = {'network_id': self.network_id('private')}
        fault = self.demo.post('/network/v2.0/ports', {'port': {**network, **mixed}}, expect=409)
        self.assertEqual('SecurityGroupConflict', fault['NeutronError']['type'])
        port = self.port(self.demo, 'private', security_groups=[stateless['id']])
        path = f'/network/v2.0/ports/{port["id"]}'
        self.demo.put(path, {'port': mixed}, expect=409)
        changed = {'security_group': {'stateful': True}}
        self.demo.put(f'{GROUPS}/{stateless["id"]}', changed, expect=409)
        self.demo.put(path, {'port': {'security_groups': [stateful['id']]}})
        self.demo.put(f'{GROUPS}/{stateless["id"]}', changed)
        self.demo.put(path, {'port': mixed})

    def test_groups_of_other_projects_cannot_be_used(self):
        group = self.group()
        other = self.believed('u', 'elsewhere', 'member')
        other.get(f'{GROUPS}/{group["id"]}', expect=404)
        other.post(
            '/network/v2.0/ports',
            {'port': {'network_id': self.network_id('shared'), 'security_groups': [group['id']]}},
            expect=404,
        )

    def test_open_ports_have_no_groups(self):
        port = self.port(port_security_enabled=False)
        self.assertEqual([], port['security_groups'])
        closed = self.port()
        self.admin.put(
            f'/network/v2.0/ports/{closed["id"]}',
            {'port': {'port_security_enabled': False}},
            expect=409,
        )
        self.admin.put(
            f'/network/v2.0/ports/{closed["id"]}',
            {'port': {'port_security_enabled': False, 'security_groups': []}},
        )

    def test_rules_have_a_life(self):
        group = self.group()
        made = self.rule(
            group,
            protocol='tcp',
            port_range_min=22,
            port_range_max='22',
            remote_ip_prefix='192.0.2.1/24',
        )['security_group_rule']
        self.assertEqual(
            ('IPv4', 22, 22, '192.0.2.1/24', '192.0.2.0/24'),
            (
                made['ethertype'],
                made['port_range_min'],
                made['port_range_max'],
                made['remote_ip_prefix'],
                made['normalized_cidr'],
            ),
        )
        fault = self.rule(
            group,
            protocol='tcp',
            port_range_min=22,
            port_range_max=22,
            remote_ip_prefix='192.0.2.1/24',
            expect=409,
        )
        self.assertEqual('SecurityGroupRuleExists', fault['NeutronError']['type'])
        listed = self.demo.get(f'{RULES}?security_group_id={group["id"]}&direction=ingress')
        self.assertEqual([made['id']], [one['id'] for one in listed['security_group_rules']])
        self.demo.delete(f'{RULES}/{made["id"]}')
        self.demo.get(f'{RULES}/{made["id"]}', expect=404)
        self.assertEqual(
            2,
            len(self.demo.get(f'{GROUPS}/{group["id"]}')['security_group']['security_group_rules']),
        )

    def test_rules_refuse_what_they_must(self):
        group = self.group()
        for status, values in (
            (400, {'protocol': 'carrier-pigeon'}),
            (400, {'protocol': 999}),
            (400, {'port_range_min': 1, 'port_range_max': 2}),
            (400, {'protocol': 'tcp', 'port_range_min': 9, 'port_range_max': 2}),
            (400, {'protocol': 'tcp', 'port_range_min': 9}),
            (400, {'protocol': 'icmp', 'port_range_min': 999}),
            (400, {'remote_ip_prefix': 'everywhere'}),
            (400, {'remote_ip_prefix': 'fe80::1%1/64'}),
            (400, {'remote_ip_prefix': '2001:db8::/32'}),
            (400, {'remote_ip_prefix': '192.0.2.0/24', 'remote_group_id': group['id']}),
            (404, {'remote_group_id': 'nothing'}),
            (400, {'direction': 'sideways'}),
            (404, {'security_group_id': 'nothing'}),
        ):
            self.rule(group, expect=status, **values)
        self.rule(group, expect=404, client=self.believed('u', 'elsewhere', 'member'))
