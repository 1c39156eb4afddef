"""QoS policies, and what their ports ask of placement."""

from tests.unit.simcloud import base

PORTS = '/network/v2.0/ports'
POLICIES = '/network/v2.0/qos/policies'
BANDWIDTH, PACKET_RATE = 'minimum_bandwidth', 'minimum_packet_rate'


class QosTestCase(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.policy = self.admin.post(POLICIES, {'policy': {'name': 'q'}})['policy']['id']

    def rule(self, kind, *, expect=201, **values):
        answer = self.admin.post(self.path(kind), {f'{kind}_rule': values}, expect=expect)
        return answer.get(f'{kind}_rule')

    def path(self, kind):
        return f'{POLICIES}/{self.policy}/{kind}_rules'

    def network(self, **values):
        wanted = {'name': 'n', **{f'provider:{name}': value for name, value in values.items()}}
        return self.admin.post('/network/v2.0/networks', {'network': wanted})['network']['id']

    def port_on(self, network, **values):
        wanted = {'network_id': network, 'qos_policy_id': self.policy, **values}
        return self.admin.post(PORTS, {'port': wanted})['port']

    def request(self, network, **values):
        return self.port_on(network, **values)['resource_request']

    def test_rule_types(self):
        self.assertEqual(
            {BANDWIDTH, PACKET_RATE, 'bandwidth_limit', 'packet_rate_limit', 'dscp_marking'},
            {one['type'] for one in self.demo.get('/network/v2.0/qos/rule-types')['rule_types']},
        )

    def test_details_of_a_rule_type(self):
        path = '/network/v2.0/qos/rule-types/bandwidth_limit'
        (driver,) = self.admin.get(path)['rule_type']['drivers']
        values = {
            one['parameter_name']: one['parameter_values'] for one in driver['supported_parameters']
        }
        self.assertEqual(['egress', 'ingress'], values['direction'])
        self.assertEqual({'start': 0, 'end': 2**31 - 1}, values['max_kbps'])
        self.admin.get('/network/v2.0/qos/rule-types/other', expect=400)
        self.demo.get(path, expect=403)

    def test_tags_of_policies(self):
        path = f'/network/v2.0/policies/{self.policy}/tags'
        self.admin.put(path, {'tags': ['a', 'b']})
        self.assertEqual(['a', 'b'], self.admin.get(f'{POLICIES}/{self.policy}')['policy']['tags'])
        self.assertEqual(1, len(self.admin.get(f'{POLICIES}?tags=a')['policies']))
        for tags in (['a', 'a'], ['x' * 256], [1], 'a', [str(number) for number in range(51)]):
            self.admin.put(path, {'tags': tags}, expect=400)
        self.demo.get(path, expect=404)
        self.demo.put(path, {'tags': []}, expect=403)
        self.demo.delete(f'{path}/a', expect=403)

    def test_default_policies(self):
        policy = {'policy': {'name': 'd', 'is_default': True}}
        made = self.admin.post(POLICIES, policy)['policy']
        self.assertTrue(made['is_default'])
        self.admin.post(POLICIES, policy, expect=409)
        one = f'{POLICIES}/{self.policy}'
        self.admin.put(one, policy, expect=409)
        self.assertFalse(self.admin.get(one)['policy']['is_default'])
        network = self.network()
        found = self.admin.get(f'/network/v2.0/networks/{network}')['network']
        self.assertEqual(made['id'], found['qos_policy_id'])
        self.admin.delete(f'{POLICIES}/{made["id"]}', expect=409)
        self.admin.put(f'{POLICIES}/{made["id"]}', {'policy': {'is_default': False}})
        self.admin.put(one, {'policy': {'is_default': True}})
        self.admin.delete(one)
        self.assertEqual([], self.change_database('SELECT * FROM network_qos_defaults'))

    def test_policies_of_gateways(self):
        routers = '/network/v2.0/routers'
        (network,) = self.admin.get('/network/v2.0/networks?name=public')['networks']
        gateway = {'network_id': network['id'], 'qos_policy_id': self.policy}
        wanted = {'router': {'name': 'r', 'external_gateway_info': gateway}}
        made = self.admin.post(routers, wanted)['router']
        self.assertEqual(self.policy, made['external_gateway_info']['qos_policy_id'])
        self.admin.delete(f'{POLICIES}/{self.policy}', expect=409)
        gateway['qos_policy_id'] = '00000000-0000-4000-8000-000000000000'
        self.admin.put(f'{routers}/{made["id"]}', wanted, expect=404)
        self.admin.delete(f'{routers}/{made["id"]}')
        self.admin.delete(f'{POLICIES}/{self.policy}')

    def test_limits_and_marks(self):
        made = self.rule('bandwidth_limit', max_kbps=9)
        self.assertEqual((0, 'egress'), (made['max_burst_kbps'], made['direction']))
        self.rule('bandwidth_limit', max_kbps=9, expect=409)
        self.rule('bandwidth_limit', max_kbps=9, max_burst_kbps='2', direction='ingress')
        self.rule('packet_rate_limit', max_kpps=3, direction='any')
        self.rule('packet_rate_limit', max_kpps=3, direction='ingress', expect=409)
        self.rule('dscp_marking', dscp_mark=7, expect=400)
        mark = self.rule('dscp_marking', dscp_mark='46')
        self.assertEqual({'id': mark['id'], 'dscp_mark': 46}, mark)
        self.rule('dscp_marking', dscp_mark=8, expect=409)
        path = f'{self.path("dscp_marking")}/{mark["id"]}'
        changed = self.admin.put(path, {'dscp_marking_rule': {'dscp_mark': 48}})
        self.assertEqual(48, changed['dscp_marking_rule']['dscp_mark'])
        # They ask nothing of placement, and may be changed while servers have their ports.
        port = self.port_on(self.network(), device_owner='compute:nova', **{'binding:host_id': 'h'})
        self.assertIsNone(port['resource_request'])
        self.admin.delete(path)
        self.admin.delete(f'/network/v2.0/ports/{port["id"]}')
        self.admin.delete(f'{POLICIES}/{self.policy}')

    def test_rules(self):
        made = self.rule(BANDWIDTH, min_kbps=1000, direction='ingress')
        self.assertEqual(
            {'id': made['id'], 'min_kbps': 1000, 'direction': 'ingress'},
            self.admin.get(f'{self.path(BANDWIDTH)}/{made["id"]}')['minimum_bandwidth_rule'],
        )
        self.rule(BANDWIDTH, min_kbps=1, direction='ingress', expect=409)
        other = self.rule(PACKET_RATE, min_kpps=5, direction='any')
        for direction in ('any', 'egress'):
            self.rule(PACKET_RATE, min_kpps=1, direction=direction, expect=409)
        self.rule(BANDWIDTH, min_kbps=1, direction='any', expect=400)
        self.assertEqual(
            [{**made, 'type': BANDWIDTH}, {**other, 'type': PACKET_RATE}],
            self.admin.get(f'{POLICIES}/{self.policy}')['policy']['rules'],
        )
        self.admin.delete(f'{self.path(PACKET_RATE)}/{other["id"]}')
        self.admin.delete(f'{POLICIES}/{self.policy}')

    def test_request_of_bandwidth(self):
        for direction in ('egress', 'ingress'):
            self.rule(BANDWIDTH, min_kbps=1000, direction=direction)
        network = self.network(network_type='vlan', physical_network='phys-1')
        (group,) = self.request(network)['request_groups']
        self.assertEqual(
            {'NET_BW_EGR_KILOBIT_PER_SEC': 1000, 'NET_BW_IGR_KILOBIT_PER_SEC': 1000},
            group['resources'],
        )
        self.assertEqual(['CUSTOM_PHYSNET_PHYS_1', 'CUSTOM_VNIC_TYPE_NORMAL'], group['required'])
        direct = self.request(network, **{'binding:vnic_type': 'direct'})
        self.assertIn('CUSTOM_VNIC_TYPE_DIRECT', direct['request_groups'][0]['required'])
        (tunnelled,) = self.request(self.network())['request_groups']
        self.assertIn('CUSTOM_NETWORK_TUNNEL_PROVIDER', tunnelled['required'])

    def test_request_of_both(self):
        """A group for each, which the providers of one agent are to have."""
        self.rule(PACKET_RATE, min_kpps=7, direction='any')
        self.rule(BANDWIDTH, min_kbps=1000)
        port = self.port_on(self.network())
        asked = port['resource_request']
        bandwidth, rate = asked['request_groups']
        self.assertEqual(['CUSTOM_VNIC_TYPE_NORMAL'], rate['required'])
        self.assertEqual({'NET_PACKET_RATE_KILOPACKET_PER_SEC': 7}, rate['resources'])
        self.assertEqual([bandwidth['id'], rate['id']], asked['same_subtree'])
        self.assertEqual(asked, self.admin.get(f'{PORTS}/{port["id"]}')['port']['resource_request'])

    def test_no_request(self):
        self.assertIsNone(self.request(self.network()))
        self.assertIsNone(self.port()['resource_request'])

    def test_only_who_sees_the_policy_uses_it(self):
        self.rule(BANDWIDTH, min_kbps=1000)
        wanted = {'network_id': self.port()['network_id'], 'qos_policy_id': self.policy}
        self.demo.post(PORTS, {'port': wanted}, expect=404)

    def test_policy_in_use(self):
        """Allocations of a host would not follow the change."""
        rule = self.rule(BANDWIDTH, min_kbps=1000)
        port = self.port_on(self.network(), device_owner='compute:nova', device_id='server')
        path, one = f'{PORTS}/{port["id"]}', f'{self.path(BANDWIDTH)}/{rule["id"]}'
        self.admin.delete(f'{POLICIES}/{self.policy}', expect=409)
        change = {'minimum_bandwidth_rule': {'min_kbps': 2000}}
        self.admin.put(one, change)
        self.admin.put(path, {'port': {'binding:host_id': 'host'}})
        self.admin.put(one, change, expect=409)
        self.admin.delete(one, expect=409)
        self.rule(PACKET_RATE, min_kpps=1, expect=409)
        self.admin.put(path, {'port': {'qos_policy_id': None}})
        self.admin.put(path, {'port': {'qos_policy_id': self.policy}})
        self.admin.put(path, {'port': {'binding:profile': {'allocation': {'group': 'provider'}}}})
        self.admin.put(path, {'port': {'qos_policy_id': None}}, expect=409)
        self.admin.put(path, {'port': {'binding:host_id': ''}})
        self.admin.put(path, {'port': {'qos_policy_id': None}})
