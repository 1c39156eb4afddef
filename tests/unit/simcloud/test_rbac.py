"""RBAC policies of networks and others: what they grant, and when they can be withdrawn."""

from tests.unit.simcloud import base

V2 = '/network/v2.0'


class RbacTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.other = self.believed('u', 'p', 'member')

    def make(self, path, key, client=None, **values):
        return (client or self.demo).post(f'{V2}/{path}', {key: values})[key]

    def network(self):
        made = self.make('networks', 'network', name='lent')
        wanted = {'network_id': made['id'], 'ip_version': 4, 'cidr': '192.0.2.0/24'}
        self.make('subnets', 'subnet', **wanted)
        return made

    def grant(self, kind, found, *, expect=201, client=None, **values):
        wanted = {
            'object_type': kind,
            'object_id': found['id'],
            'action': 'access_as_shared',
            'target_tenant': 'p',
            **values,
        }
        body = {'rbac_policy': wanted}
        answer = (client or self.demo).post(f'{V2}/rbac-policies', body, expect=expect)
        return answer.get('rbac_policy') or answer['NeutronError']

    def withdraw(self, policy, *, expect=204):
        return self.demo.delete(f'{V2}/rbac-policies/{policy["id"]}', expect=expect)

    def names(self, client, path):
        ((_key, found),) = client.get(f'{V2}/{path}').items()
        return [one['name'] for one in found]

    def test_a_granted_network_can_be_used(self):
        network = self.network()
        path = f'{V2}/networks/{network["id"]}'
        self.other.get(path, expect=404)
        policy = self.grant('network', network)
        self.assertTrue(self.other.get(path)['network']['shared'])
        self.assertFalse(self.demo.get(path)['network']['shared'])
        self.assertIn('lent', self.names(self.other, 'networks?shared=true'))
        self.assertNotIn('lent', self.names(self.other, 'networks?shared=false'))
        self.assertNotIn('lent', self.names(self.demo, 'networks?shared=true'))
        self.other.get(f'{V2}/subnets/{self.demo.get(path)["network"]["subnets"][0]}')
        self.other.put(path, {'network': {'name': 'n'}}, expect=403)
        port = self.port(self.other, network_id=network['id'])
        fault = self.withdraw(policy, expect=409)['NeutronError']
        self.assertEqual('RbacPolicyInUse', fault['type'])
        second = self.grant('network', network, client=self.admin, target_tenant='*')
        self.withdraw(policy)
        self.admin.delete(f'{V2}/rbac-policies/{second["id"]}', expect=409)
        self.other.delete(f'{V2}/ports/{port["id"]}')
        self.admin.delete(f'{V2}/rbac-policies/{second["id"]}')
        self.other.get(path, expect=404)

    def test_an_external_network_gives_addresses(self):
        network = self.network()
        policy = self.grant('network', network, action='access_as_external')
        shown = self.other.get(f'{V2}/networks/{network["id"]}')['network']
        self.assertEqual((True, False), (shown['router:external'], shown['shared']))
        self.assertIn('lent', self.names(self.other, 'networks?router:external=true'))
        wanted = {'floating_network_id': network['id']}
        made = self.make('floatingips', 'floatingip', self.other, **wanted)
        self.withdraw(policy, expect=409)
        self.other.delete(f'{V2}/floatingips/{made["id"]}')
        self.withdraw(policy)

    def test_only_other_projects_need_a_grant(self):
        network = self.network()
        policies = [
            self.grant('network', network, action=action, target_tenant=target)
            for action in ('access_as_external', 'access_as_shared')
            for target in ('p', network['project_id'])
        ]
        wanted = {'floating_network_id': network['id']}
        made = self.make('floatingips', 'floatingip', self.other, **wanted)
        self.withdraw(policies[0], expect=409)
        for policy in policies[1:]:
            self.withdraw(policy)
        self.other.delete(f'{V2}/floatingips/{made["id"]}')
        self.withdraw(policies[0])

    def test_other_kinds(self):
        group = self.make('security-groups', 'security_group', name='lent')
        scope = self.make('address-scopes', 'address_scope', name='lent', ip_version=4)
        pool = self.make('subnetpools', 'subnetpool', name='lent', prefixes=['10.0.0.0/16'])
        policy = self.make('qos/policies', 'policy', self.admin, name='lent')
        for kind, path, found, client in (
            ('security_group', 'security-groups', group, self.demo),
            ('address_scope', 'address-scopes', scope, self.demo),
            ('subnetpool', 'subnetpools', pool, self.demo),
            ('qos_policy', 'qos/policies', policy, self.admin),
        ):
            self.assertNotIn('lent', self.names(self.other, path))
            self.grant(kind, found, client=client)
            self.assertIn('lent', self.names(self.other, path))
            ((_key, shown),) = self.other.get(f'{V2}/{path}/{found["id"]}').items()
            self.assertTrue(shown['shared'])
            self.assertIn('lent', self.names(self.other, f'{path}?shared=true'))
            self.assertNotIn('lent', self.names(self.other, f'{path}?shared=false'))
            self.assertNotIn('lent', self.names(self.demo, f'{path}?shared=true'))
        port = self.port(self.other, security_groups=[group['id']], qos_policy_id=policy['id'])
        self.assertEqual([group['id']], port['security_groups'])
        wanted = {'name': 's', 'prefixes': ['10.9.0.0/16'], 'address_scope_id': scope['id']}
        self.make('subnetpools', 'subnetpool', self.other, **wanted)
        network = self.make('networks', 'network', self.other)
        wanted = {'network_id': network['id'], 'ip_version': 4, 'subnetpool_id': pool['id']}
        self.make('subnets', 'subnet', self.other, **wanted, prefixlen=24)
        for one in self.admin.get(f'{V2}/rbac-policies')['rbac_policies']:
            self.admin.delete(f'{V2}/rbac-policies/{one["id"]}', expect=409)

    def test_policies_that_cannot_be(self):
        network = self.network()
        for values, word in (
            ({'object_type': 'router'}, 'router'),
            ({'action': 'access'}, 'access_as_external'),
        ):
            kind = values.pop('object_type', 'network')
            self.assertIn(word, self.grant(kind, network, expect=400, **values)['message'])
        self.assertEqual('NetworkNotFound', self.grant('network', {'id': 'x'}, expect=404)['type'])
        self.grant('network', network, target_tenant='*', expect=403)
        shared = {'id': self.network_id('shared')}
        self.assertIn('do not own', self.grant('network', shared, expect=400)['message'])
        policy = self.grant('network', network)
        fault = self.grant('network', network, expect=409)
        self.assertEqual('DuplicateRbacPolicy', fault['type'])
        path = f'{V2}/rbac-policies/{policy["id"]}'
        for client in (self.other, self.believed('u', 'q', 'member')):
            client.get(path, expect=404)
            client.delete(path, expect=404)
        changed = self.demo.put(path, {'rbac_policy': {'target_tenant': 'q'}})['rbac_policy']
        self.assertEqual('q', changed['target_tenant'])
        self.demo.put(path, {'rbac_policy': {'target_tenant': '*'}}, expect=403)

    def test_quotas_hold(self):
        network = self.network()
        path = f'{V2}/quotas/{network["project_id"]}'
        self.admin.put(path, {'quota': {'rbac_policy': 1}})
        self.grant('network', network)
        fault = self.grant('network', network, target_tenant='q', expect=409)
        self.assertEqual('OverQuota', fault['type'])
